import { z } from 'zod';
import { KeptProof } from './actors.js';
import { Instant, Sha256 } from './ids.js';
import { upcast, UPCASTERS, type Upcasters } from './upcasters.js';

/** `prevHash` of the first commit of a chain. */
export const GENESIS_HASH = '0'.repeat(64);

/** The input a commit was decided for; an id that is already a cause is answered again and appends nothing. */
export const Cause = z.strictObject({
  kind: z.enum(['request', 'verb', 'attempt', 'timer', 'fleet', 'run', 'presence', 'plan']),
  id: z.string().min(1).max(256),
  /** Its refusal is itself a fact of the commit (EDIT_REJECTED): asked again, it is refused again. */
  rejected: z.literal(true).optional(),
  /** Who caused it has proven it. A commit from before proofs were kept has none, nor one that no person or system caused. */
  proof: KeptProof.optional(),
});
export type Cause = z.infer<typeof Cause>;

export const CommitAuthor = z.strictObject({ service: z.string(), instance: z.string() });
export type CommitAuthor = z.infer<typeof CommitAuthor>;

/** What every chained commit carries besides its events and the key of its aggregate. */
export const commitShape = {
  /** ULID, also `Nats-Msg-Id` and the header `Orrery-Commit`. */
  commit: z.string().regex(/^[0-9A-HJKMNP-TV-Z]{26}$/, 'must be a ULID'),
  /** Position in the aggregate, from 1, without gaps. */
  number: z.int().min(1),
  at: Instant,
  by: CommitAuthor,
  causes: z.array(Cause),
  prevHash: Sha256,
  /** SHA-256 over the RFC 8785 canonical JSON of the stored commit without this field. */
  hash: Sha256,
} as const;

/** The envelope of an event inside a commit: `sequence` counts the events of the aggregate from 1, without gaps. */
export const eventEnvelope = {
  id: z.string().min(1).max(256),
  sequence: z.int().min(1),
  schemaVersion: z.int().min(1),
} as const;

/** The events of a commit: whatever version they were written in, they are read in the words of today. */
export const recordedEvents = <E extends z.ZodType>(event: E, upcasters: Upcasters = UPCASTERS) =>
  z.array(z.preprocess((stored) => upcast(stored, upcasters), event)).min(1);

type Schemas = Readonly<Record<string, z.ZodType>>;

/** An event before it is recorded, of an aggregate whose events have these schemas. */
export type EventOf<S extends Schemas> = {
  [T in keyof S & string]: { type: T; data: z.infer<S[T]> };
}[keyof S & string];

type RecordedOf<S extends Schemas> = {
  [T in keyof S & string]: z.ZodObject<typeof eventEnvelope & { type: z.ZodLiteral<T>; data: S[T] }, z.core.$strict>;
}[keyof S & string];

/** Any recorded event of an aggregate: one shape for each row of its table, which is the one place where its events are listed. */
export function recordedEvent<S extends Schemas>(schemas: S) {
  const shapes = Object.entries(schemas).map(([type, data]) =>
    z.strictObject({ ...eventEnvelope, type: z.literal(type), data }),
  );
  return z.discriminatedUnion('type', shapes as unknown as [RecordedOf<S>, ...RecordedOf<S>[]]);
}

export const HEADER_COMMIT = 'Orrery-Commit';
/** Comma list of the types in the commit, so that a consumer can pass over a commit without parsing it. */
export const HEADER_TYPES = 'Orrery-Types';

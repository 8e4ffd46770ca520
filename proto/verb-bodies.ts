import { z } from 'zod';
import { ActorProof } from './actors.js';
import { BoardFound } from './board.js';
import { idSchema, RunId } from './ids.js';
import { Refusal } from './request.js';
import { RUN_VERBS, type RunVerb, VERBS } from './verbs.js';

/** Made by the sender, one per intent: the same id is decided once, however often it is sent. */
export const VerbId = idSchema('the id of a verb');
export type VerbId = z.infer<typeof VerbId>;

const verbShape = {
  id: VerbId,
  /** Who asks, proven: a message is never believed for what it says of its sender. */
  actor: ActorProof,
} as const;
/** Filled in on the way to the owner of the new run. */
const PARENT = { parent: RunId.optional() } as const;

type FieldsOf<V extends RunVerb> = (typeof VERBS)[V]['fields'];
type BodyShape<V extends RunVerb> = typeof verbShape & FieldsOf<V> & (V extends 'FORK' ? typeof PARENT : unknown);
type Schemas<S extends Record<RunVerb, z.ZodRawShape>> = { readonly [V in RunVerb]: z.ZodObject<S[V], z.core.$strict> };

/** What a person or a program says with a verb; id and proof are added when it is sent, the parent of a fork on its way. */
export const VERB_FIELDS = byVerb((_, fields) => z.strictObject(fields)) as Schemas<{ [V in RunVerb]: FieldsOf<V> }>;
export type VerbFields<V extends RunVerb> = z.infer<(typeof VERB_FIELDS)[V]>;

/** Bodies of the verbs by verb. Each gets one final answer; the sender repeats the same id until it has it. */
export const VERB_BODIES = byVerb((verb, fields) =>
  z.strictObject({ ...verbShape, ...fields, ...(verb === 'FORK' ? PARENT : {}) }),
) as Schemas<{ [V in RunVerb]: BodyShape<V> }>;
export type VerbBody<V extends RunVerb> = z.infer<(typeof VERB_BODIES)[V]>;

function byVerb(make: (verb: RunVerb, fields: z.ZodRawShape) => z.ZodType): Record<RunVerb, z.ZodType> {
  return Object.fromEntries(RUN_VERBS.map((verb) => [verb, make(verb, VERBS[verb].fields)])) as Record<
    RunVerb,
    z.ZodType
  >;
}

/** Verbs of people and programs on `orrery.command.<p>.<runId>.<VERB>`. */
export const Verb = z.enum(['SUBMIT', ...RUN_VERBS]);
export type Verb = z.infer<typeof Verb>;

/** The one final answer of a verb; `TRY_AGAIN` in `reason.code` when the outcome is not known in time. */
export const VerbAnswer = z.strictObject({
  answer: z.enum(['accepted', 'ignored', 'rejected']),
  reason: Refusal.optional(),
  /** Event sequence of the run after the commit that followed. */
  sequence: z.int().min(0),
  /** The run that a FORK began. */
  runId: RunId.optional(),
  /** What there is to say beside that it was accepted: that others have to approve, too; that one approved for oneself. */
  detail: z.string().optional(),
  /** It is recorded as one word of several: others have to say the same before anything follows. */
  waits: z.literal(true).optional(),
  /** Of a write to the board: the entry as it stands now, written or in the way; null: nothing does. */
  board: BoardFound.nullable().optional(),
});
export type VerbAnswer = z.infer<typeof VerbAnswer>;

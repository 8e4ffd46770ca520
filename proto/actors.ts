import { z } from 'zod';
import { Instant, Json, RunId, Sha256 } from './ids.js';

/** Who asked: from the credential of the sender, never from its message. */
export const Actor = z.strictObject({ kind: z.enum(['person', 'system', 'external']), id: z.string().min(1).max(128) });
export type Actor = z.infer<typeof Actor>;

/** Name of a person, a system or an external system, unique over all of them; a token of a subject, and a key of a bucket. */
export const ActorId = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, 'must be 1 to 63 characters out of a-z, 0-9, "_" and "-", no sign first');
export type ActorId = z.infer<typeof ActorId>;

/** The one external system that there was before each had a key and a name of its own: a user of every installation. */
export const FIRST_EXTERNAL: ActorId = 'external';

/** What an actor is trusted with; what each role may do is in ROLE_TABLE. No role contains another one. */
export const Role = z.enum(['viewer', 'requester', 'approver', 'operator', 'auditor', 'admin']);
export type Role = z.infer<typeof Role>;

/** Public bus key of a user: an nkey. */
export const BusKey = z.string().regex(/^U[A-Z2-7]{55}$/, 'must be the public nkey of a user');

/** For whom the signer speaks: somebody who has logged in at it and has no key of his own. */
export const Vouched = z.strictObject({
  /** Id of the actor. */
  actor: Actor.shape.id,
  /** Who has said who it is: an OpenID provider, or `orrery` for what the system itself gives out. */
  issuer: z.string().min(1).max(512),
  /** What the issuer calls the login, e.g. `token:<tokenId>`. */
  subject: z.string().min(1).max(512),
  /** The session of the login, a name for people: nothing can be opened with it. */
  session: z.string().min(1).max(128),
});
export type Vouched = z.infer<typeof Vouched>;

const proofShape = {
  key: BusKey,
  at: Instant,
  signature: z.base64url(),
  vouched: Vouched.optional(),
} as const;

/**
 * Proof of who sends a command: an Ed25519 signature, made with the sender's bus key, over the RFC 8785 canonical JSON of
 * `{subject, at, body}` where `body` is the command without this field; of `{subject, at, body, vouched}` where the signer
 * speaks for somebody else. Valid for a few minutes around `at`.
 */
export const ActorProof = z.strictObject(proofShape);
export type ActorProof = z.infer<typeof ActorProof>;

/** A proof as it stays with what came of the command: whoever has the public key can check it again, for ever. */
export const KeptProof = z
  .strictObject({
    ...proofShape,
    /** Where the command was sent. */
    subject: z.string().min(1).max(512),
    /** The command as it came, without its field `actor`. */
    body: z.record(z.string(), Json).optional(),
    /** Instead of a body that is too large to be kept, or lets its holder in somewhere: SHA-256 of its RFC 8785 canonical JSON. */
    bodyHash: Sha256.optional(),
  })
  .refine(({ body, bodyHash }) => (body === undefined) !== (bodyHash === undefined), {
    error: 'exactly one of body and bodyHash must be given',
  });
export type KeptProof = z.infer<typeof KeptProof>;

/**
 * What lets an MCP host see, and with `edit` change, the constellation of one run in the name of its signer: an Ed25519
 * signature, made with a bus key, over the RFC 8785 canonical JSON of the other fields. As a bearer token: base64url of its JSON.
 * What comes in with it may have been written by a model, and is treated so.
 */
export const EditGrant = z.strictObject({
  kind: z.literal('constellation-access'),
  runId: RunId,
  access: z.enum(['read', 'edit']),
  key: BusKey,
  /** When it was signed, by the signer's clock. One without it comes from before grants could be revoked, and counts no more. */
  issuedAt: Instant.optional(),
  expiresAt: Instant,
  signature: z.base64url(),
});
export type EditGrant = z.infer<typeof EditGrant>;

/**
 * What lets its holder begin one session of a browser at one console, in the name of its signer: an Ed25519 signature, made with a bus key, over
 * the RFC 8785 canonical JSON of the other fields. As a code: base64url of its JSON. Good once, and for a short while.
 */
export const LoginCode = z.strictObject({
  kind: z.literal('console-login'),
  /** Where it is good: the console as browsers reach it, e.g. `http://127.0.0.1:8080`. */
  origin: z.string().min(1).max(512),
  /** 128 bit that no other code has. */
  nonce: z.string().regex(/^[\w-]{22}$/),
  key: BusKey,
  issuedAt: Instant,
  signature: z.base64url(),
});
export type LoginCode = z.infer<typeof LoginCode>;

/** Value of the bucket ACTORS as version 0.1.0 wrote it, by public key: whom a key stands for. The registry makes facts of them. */
export const KnownActor = z.strictObject({ actor: Actor, since: Instant });
export type KnownActor = z.infer<typeof KnownActor>;

import { z } from 'zod';
import { Instant, RunId } from './ids.js';

/** Who asked: from the credential of the sender, never from its message. */
export const Actor = z.strictObject({ kind: z.enum(['person', 'system', 'external']), id: z.string().min(1).max(128) });
export type Actor = z.infer<typeof Actor>;

/**
 * Proof of who sends a command: an Ed25519 signature, made with the sender's bus key, over the RFC 8785 canonical JSON of
 * `{subject, at, body}` where `body` is the command without this field. Valid for a few minutes around `at`.
 */
export const ActorProof = z.strictObject({
  /** Public bus key (an nkey of a user). */
  key: z.string().regex(/^U[A-Z2-7]{55}$/, 'must be the public nkey of a user'),
  at: Instant,
  signature: z.base64url(),
});
export type ActorProof = z.infer<typeof ActorProof>;

/**
 * What lets an MCP host see, and with `edit` change, the constellation of one run in the name of its signer: an Ed25519
 * signature, made with a bus key, over the RFC 8785 canonical JSON of the other fields. As a bearer token: base64url of its JSON.
 * What comes in with it may have been written by a model, and is treated so.
 */
export const EditGrant = z.strictObject({
  kind: z.literal('constellation-access'),
  runId: RunId,
  access: z.enum(['read', 'edit']),
  key: z.string().regex(/^U[A-Z2-7]{55}$/, 'must be the public nkey of a user'),
  /** When it was signed, by the signer's clock. One without it comes from before grants could be revoked, and counts no more. */
  issuedAt: Instant.optional(),
  expiresAt: Instant,
  signature: z.base64url(),
});
export type EditGrant = z.infer<typeof EditGrant>;

/** Value of the bucket ACTORS, by public key: whom a key stands for. Written with the administrator's credential only. */
export const KnownActor = z.strictObject({ actor: Actor, since: Instant });
export type KnownActor = z.infer<typeof KnownActor>;

import { z } from 'zod';
import { Instant } from './ids.js';

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

/** Value of the bucket ACTORS, by public key: whom a key stands for. Written with the administrator's credential only. */
export const KnownActor = z.strictObject({ actor: Actor, since: Instant });
export type KnownActor = z.infer<typeof KnownActor>;

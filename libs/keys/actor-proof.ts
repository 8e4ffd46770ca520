import { sign, verify } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { ActorProof, Instant } from '#proto';
import { ed25519KeyOf, signerOf } from './nkey.js';

/** How far the time of a proof may lie from the clock of who verifies it, before and after. */
export const PROOF_MS_MAX = 5 * 60 * 1_000;

export interface Proven {
  /** Where the command is sent. A proof for another subject is none: other run, other verb, other query. */
  readonly subject: string;
  /** The command as JSON, sent and received, before any schema has filled in a default. Its field `actor` is left out. */
  readonly body: object;
}

/** Signs a command with the seed of the sender's bus key. Throws when the seed is none. */
export function proveActor(seed: string, { subject, at, body }: Proven & { readonly at: Instant }): ActorProof {
  const { key, privateKey } = signerOf(seed);
  const signature = sign(null, signedBytes({ subject, at, body }), privateKey).toString('base64url');
  return { key, at, signature };
}

/** `reason` is a sentence for the sender. */
export type Verified = { readonly ok: true; readonly key: string } | { readonly ok: false; readonly reason: string };

/** Whether the holder of `proof.key` sent this command just now (`now` in ms since the epoch). Anything may come in: it never throws. */
export function verifyActorProof(
  proof: ActorProof,
  { subject, body, now }: Proven & { readonly now: number },
): Verified {
  try {
    const { key, at, signature } = proof;
    const ageMs = now - Date.parse(at);
    if (ageMs > PROOF_MS_MAX) return refused(`is ${seconds(ageMs)} s old; it is good for ${seconds(PROOF_MS_MAX)} s`);
    if (ageMs < -PROOF_MS_MAX) return refused(`is of ${at}, which is in the future: compare the clocks`);
    // What is no time compares as neither.
    if (Number.isNaN(ageMs)) return refused('has no time in `at`');
    // The runtime's own verification takes a tenth of a millisecond, the one in JavaScript that comes with nkeys a hundred times that.
    const bytes = signedBytes({ subject, at, body });
    if (verify(null, bytes, ed25519KeyOf(key), Buffer.from(signature, 'base64url'))) return { ok: true, key };
  } catch {
    // No key, no JSON, no text: all of them prove nothing.
  }
  return refused('does not fit the command and its key');
}

const refused = (what: string): Verified => ({ ok: false, reason: `The proof of the sender ${what}.` });
const seconds = (ms: number): number => Math.round(ms / 1_000);

function signedBytes({ subject, at, body }: Proven & { readonly at: Instant }): Uint8Array {
  const { actor: _, ...command } = body as { actor?: unknown };
  const text = canonicalize({ subject, at, body: command });
  if (text === undefined) throw new TypeError('A command must be a JSON object.');
  return new TextEncoder().encode(text);
}

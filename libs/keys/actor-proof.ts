import { hash, sign, verify } from 'node:crypto';
import canonicalize from 'canonicalize';
import { Json, LIMITS, type ActorProof, type Instant, type KeptProof, type Vouched } from '#proto';
import { bytesOfBase64url, ed25519KeyOf, signerOf } from './nkey.js';

/** How far the time of a proof may lie from the clock of who verifies it, before and after. */
export const PROOF_MS_MAX = 5 * 60 * 1_000;

export interface Proven {
  /** Where the command is sent. A proof for another subject is none: other run, other verb, other query. */
  readonly subject: string;
  /** The command as JSON, sent and received, before any schema has filled in a default. Its field `actor` is left out. */
  readonly body: object;
}

interface Signed extends Proven {
  readonly at: Instant;
  /** For whom the signer speaks, when that is somebody who has logged in at it. */
  readonly vouched?: Vouched | undefined;
}

/** Signs a command with the seed of the sender's bus key. Throws when the seed is none, and for what has no canonical form. */
export function proveActor(seed: string, { subject, at, body, vouched }: Signed): ActorProof {
  const { key, privateKey } = signerOf(seed);
  const signature = sign(null, signedBytes({ subject, at, body, vouched }), privateKey).toString('base64url');
  return { key, at, signature, ...(vouched !== undefined && { vouched }) };
}

/** `reason` is a sentence for the sender. */
export type Verified = { readonly ok: true; readonly key: string } | { readonly ok: false; readonly reason: string };

/** Whether the holder of `proof.key` sent this command just now (`now` in ms since the epoch). Anything may come in: it never throws. */
export function verifyActorProof(
  proof: ActorProof,
  { subject, body, now }: Proven & { readonly now: number },
): Verified {
  if (!isSigned(proof, { subject, body })) return refused('does not fit the command and its key');
  const { key, at } = proof;
  const ageMs = now - Date.parse(at);
  if (ageMs > PROOF_MS_MAX) return refused(`is ${seconds(ageMs)} s old; it is good for ${seconds(PROOF_MS_MAX)} s`);
  if (ageMs < -PROOF_MS_MAX) return refused(`is of ${at}, which is in the future: compare the clocks`);
  // What is no time compares as neither.
  if (Number.isNaN(ageMs)) return refused('has no time in `at`');
  return { ok: true, key };
}

/** Whether the holder of `proof.key` signed this command, whenever that was. Anything may come in: it never throws. */
export function isSigned(proof: ActorProof, { subject, body }: Proven): boolean {
  try {
    const { key, at, signature, vouched } = proof;
    // The runtime's own verification takes a tenth of a millisecond, the one in JavaScript that comes with nkeys a hundred times that.
    const bytes = signedBytes({ subject, at, body, vouched });
    return verify(null, bytes, ed25519KeyOf(key), bytesOfBase64url(signature));
  } catch {
    // No key, no JSON, no text: all of them prove nothing.
    return false;
  }
}

/**
 * A proof that was verified, as it is stored with what came of the command. `isSecret`: the command lets whoever reads it in
 * somewhere. Of such a one, of one that is larger than `LIMITS.proofBodyBytesMax` and of one that would not be read back as it
 * was signed, the hash is kept.
 */
export function keepProof(
  { key, at, signature, vouched }: ActorProof,
  { subject, body, isSecret = false }: Proven & { readonly isSecret?: boolean },
): KeptProof {
  const kept = { key, at, signature, ...(vouched !== undefined && { vouched }), subject };
  const command = commandOf(body);
  const isWhole = !isSecret && Buffer.byteLength(JSON.stringify(command)) <= LIMITS.proofBodyBytesMax;
  const json = isWhole ? Json.safeParse(command) : undefined;
  // A copy was made where something had to be left out.
  if (json?.success === true && json.data === command) {
    return { ...kept, body: command as Record<string, Json> };
  }
  return { ...kept, bodyHash: hashOfBody(command) };
}

/** SHA-256 of the canonical JSON of a command: what is kept of one that is not kept. */
export function hashOfBody(command: object): string {
  return hash('sha256', canonicalOf(commandOf(command)), 'hex');
}

/** Whether the proof of a stored command is good: `unseen` when the command itself is not there to be checked. Never throws. */
export function checkKeptProof({ subject, body, bodyHash, ...proof }: KeptProof): 'good' | 'bad' | 'unseen' {
  if (body === undefined) return bodyHash === undefined ? 'bad' : 'unseen';
  return isSigned(proof, { subject, body }) ? 'good' : 'bad';
}

const refused = (what: string): Verified => ({ ok: false, reason: `The proof of the sender ${what}.` });
const seconds = (ms: number): number => Math.round(ms / 1_000);

function commandOf(body: object): object {
  if (!('actor' in body)) return body;
  const { actor: _, ...command } = body;
  return command;
}

function signedBytes({ subject, at, body, vouched }: Signed): Uint8Array {
  const signed = { subject, at, body: commandOf(body), ...(vouched !== undefined && { vouched }) };
  return new TextEncoder().encode(canonicalOf(signed));
}

function canonicalOf(value: object): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError('A command must be a JSON object.');
  return text;
}

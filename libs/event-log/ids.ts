import { createHash, randomFillSync } from 'node:crypto';
import { ulid } from 'ulid';
import type { AttentionId, RequestId, RunId } from '#proto';

const RUN_ID_CHARS = 26;
const ATTENTION_ID_CHARS = 12;
/** Crockford's base32 in lower case: nothing that is mistaken for something else, nothing that a subject cannot carry. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** A ULID: unique without asking anybody, ordered by `now` (milliseconds since epoch). */
export function newCommitId(now: number): string {
  return ulid(now, random);
}

/** Asking the system for each of the 16 characters costs more than sealing a commit; it is asked for many at once. */
const POOL_BYTES = 4_096;
const pool = new Uint8Array(POOL_BYTES);
let used = POOL_BYTES;

function random(): number {
  if (used === POOL_BYTES) {
    randomFillSync(pool);
    used = 0;
  }
  const byte = pool[used] ?? 0;
  used += 1;
  return byte / 256;
}

/** The same request is the same run for ever: 130 bits of SHA-256 over namespace and request id. Can never be changed. */
export function runIdOf(namespace: string, requestId: RequestId): RunId {
  return hashed([namespace, requestId], RUN_ID_CHARS);
}

/** What an entry of the inbox is about is its id for ever: 60 bits of SHA-256 over its key. Can never be changed. */
export function attentionIdOf(key: string): AttentionId {
  return hashed(['attention', key], ATTENTION_ID_CHARS);
}

function hashed(parts: readonly string[], chars: number): string {
  const digest = createHash('sha256').update(JSON.stringify(parts)).digest();
  let bits = 0;
  let held = 0;
  let text = '';
  for (const byte of digest) {
    bits = (bits << 8) | byte;
    held += 8;
    while (held >= 5 && text.length < chars) {
      held -= 5;
      text += ALPHABET.charAt((bits >>> held) & 31);
    }
    bits &= (1 << held) - 1;
  }
  return text;
}

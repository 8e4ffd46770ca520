import { createHash } from 'node:crypto';
import { ulid } from 'ulid';
import type { RequestId, RunId } from '#proto';

const RUN_ID_CHARS = 26;
/** Crockford's base32 in lower case: nothing that is mistaken for something else, nothing that a subject cannot carry. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** A ULID: unique without asking anybody, ordered by `now` (milliseconds since epoch). */
export function newCommitId(now: number): string {
  return ulid(now);
}

/** The same request is the same run for ever: 130 bits of SHA-256 over namespace and request id. Can never be changed. */
export function runIdOf(namespace: string, requestId: RequestId): RunId {
  const digest = createHash('sha256')
    .update(JSON.stringify([namespace, requestId]))
    .digest();
  let bits = 0;
  let held = 0;
  let text = '';
  for (const byte of digest) {
    bits = (bits << 8) | byte;
    held += 8;
    while (held >= 5 && text.length < RUN_ID_CHARS) {
      held -= 5;
      text += ALPHABET.charAt((bits >>> held) & 31);
    }
    bits &= (1 << held) - 1;
  }
  return text;
}

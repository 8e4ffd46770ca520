import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { CommandCall, Sha256 } from '#proto';

/**
 * SHA-256 of the canonical JSON of a command: the same id with another digest is refused by gateway and device. It says what
 * runs. How that was judged is no part of it: an id whose judgement was written down differently is still the same command,
 * and refusing its repeat would hide the result of something that has run.
 */
export function digestOf(command: CommandCall): Sha256 {
  return createHash('sha256')
    .update(canonicalize(command) ?? '')
    .digest('hex');
}

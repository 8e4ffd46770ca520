import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { CommandCall, Sha256 } from '#proto';

/** SHA-256 of the canonical JSON of a command: the same id with another digest is refused by gateway and device. */
export function digestOf(command: CommandCall): Sha256 {
  return createHash('sha256')
    .update(canonicalize(command) ?? '')
    .digest('hex');
}

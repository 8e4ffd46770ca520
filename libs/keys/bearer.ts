import { timingSafeEqual } from 'node:crypto';
import { tokenHash } from './generate.js';

/** The token of an `Authorization` header (RFC 6750, 2.1); undefined when it holds none. */
export function bearerToken(authorization: string | undefined): string | undefined {
  return /^Bearer +([\x21-\x7e]{1,512})$/iu.exec(authorization ?? '')?.[1];
}

/** Whether this is the token of which the hash was kept, in hex. */
export function isTokenOf(token: string, hash: string): boolean {
  const kept = Buffer.from(hash, 'hex');
  const given = Buffer.from(tokenHash(token), 'hex');
  return kept.length === given.length && timingSafeEqual(kept, given);
}

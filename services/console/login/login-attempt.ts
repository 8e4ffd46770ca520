import { createHash, createHmac, randomBytes } from 'node:crypto';
import { LIMITS } from '#proto';

const SECRET_BYTES = 32;
const FORM = /^(\d{1,15})\.[\w-]{43}$/u;

/**
 * What a browser takes along on its way to an identity provider and back, in a cookie: all that has to fit afterwards is made of
 * it, so nothing is kept here, and any replica can take the browser back.
 */
export interface LoginAttempt {
  /** RFC 6749, 10.12: who comes back is who went. */
  readonly state: string;
  /** OpenID Connect Core 1.0, 3.1.2.1: the ID token was made for this attempt. */
  readonly nonce: string;
  /** RFC 7636, 4.1: who has seen the code on its way can do nothing with it. */
  readonly verifier: string;
  /** RFC 7636, 4.2, with S256. */
  readonly challenge: string;
}

/** The text of the cookie; `now` in milliseconds since the epoch. */
export function newAttemptSecret(now: number): string {
  return `${now}.${randomBytes(SECRET_BYTES).toString('base64url')}`;
}

/** Undefined for what is no such secret, and for one that is too old. */
export function attemptOf(secret: string | undefined, now: number): LoginAttempt | undefined {
  const begun = FORM.exec(secret ?? '')?.[1];
  if (secret === undefined || begun === undefined) return undefined;
  const age = now - Number(begun);
  if (age < 0 || age >= LIMITS.loginMs) return undefined;
  const derived = (what: string): string => createHmac('sha256', secret).update(`orrery ${what}`).digest('base64url');
  const verifier = derived('verifier');
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  return { state: derived('state'), nonce: derived('nonce'), verifier, challenge };
}

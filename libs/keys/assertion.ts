import { createHash, randomUUID } from 'node:crypto';
import { EmbeddedJWK, errors, jwtVerify, SignJWT, type JWTPayload, type JWTVerifyGetKey } from 'jose';
import { DeviceId, LIMITS, Sha256, type DeviceKey } from '#proto';
import type { AnsweredAssertion } from './credential.js';
import { deviceKeyOf, jwkOf, publicKeyOf, type DeviceSecret } from './device-key.js';
import { tokenHash } from './generate.js';

/*
 * Assertions (RFC 7523): short-lived JWTs that a device signs with its own key (EdDSA, RFC 8037).
 *
 *   join    header typ JOIN_TYPE, jwk: the public key        claims aud, th: SHA-256 of the join token, iat, exp, jti
 *   renew   header typ RENEW_TYPE                            claims aud, iss = sub: the device's id, iat, exp, jti
 *
 * The types keep one from being taken for the other (RFC 8725, 3.11).
 */

export const ASSERTION_AUDIENCE = 'orrery';
export const JOIN_TYPE = 'orrery-join+jwt';
export const RENEW_TYPE = 'orrery-renew+jwt';
/** How far the clock of a device may be off, each way, by the clock of who verifies. */
const CLOCK_SKEW_MS_MAX = 60 * 1_000;

const ALGORITHM = 'EdDSA';

/** Asks to bind this key to the device that the join token was made for. `now`: the device's clock, ms since the epoch. */
export function makeJoinAssertion(
  secret: DeviceSecret,
  { token, now }: { readonly token: string; readonly now: number },
): Promise<string> {
  const header = { alg: ALGORITHM, typ: JOIN_TYPE, jwk: jwkOf(publicKeyOf(secret)) };
  return stamped(new SignJWT({ th: tokenHash(token) }), now)
    .setProtectedHeader(header)
    .sign(secret);
}

/** Asks for the next credential of the device that this key is bound to. */
export function makeRenewAssertion(
  secret: DeviceSecret,
  { deviceId, now }: { readonly deviceId: DeviceId; readonly now: number },
): Promise<string> {
  const header = { alg: ALGORITHM, typ: RENEW_TYPE };
  const jwt = new SignJWT().setIssuer(deviceId).setSubject(deviceId);
  return stamped(jwt, now).setProtectedHeader(header).sign(secret);
}

/** `CLOCK_SKEW`: it would be good, were the two clocks closer together. `reason` is a sentence for the device's people. */
export interface AssertionRefused {
  readonly ok: false;
  readonly code: 'UNAUTHORIZED' | 'CLOCK_SKEW';
  readonly reason: string;
}

interface Asserted {
  readonly assertion: AnsweredAssertion;
}

/** The key that made a join assertion for this token. Anything may come in: it never throws. */
export async function verifyJoinAssertion(
  assertion: string,
  { tokenHash: wanted, now }: { readonly tokenHash: string; readonly now: number },
): Promise<({ readonly ok: true; readonly publicKey: DeviceKey } & Asserted) | AssertionRefused> {
  const read = await verified(assertion, EmbeddedJWK, { typ: JOIN_TYPE, now });
  if (!read.ok) return read;
  const publicKey = deviceKeyOf(read.jwk?.x);
  if (publicKey === undefined) return refused('has no Ed25519 key in its header');
  if (Sha256.safeParse(read.claims['th']).data !== wanted) return refused('is for another join token');
  return { ok: true, publicKey, assertion: read.assertion };
}

/** Whose renew assertion this is. `keyOf`: the key that is bound to a device now; undefined for who has none. */
export async function verifyRenewAssertion(
  assertion: string,
  { keyOf, now }: { readonly keyOf: (deviceId: DeviceId) => DeviceKey | undefined; readonly now: number },
): Promise<
  ({ readonly ok: true; readonly deviceId: DeviceId; readonly publicKey: DeviceKey } & Asserted) | AssertionRefused
> {
  const deviceId = claimedDevice(assertion);
  const key = deviceId === undefined ? undefined : keyOf(deviceId);
  if (deviceId === undefined || key === undefined) return refused('is of no device that has joined');
  const read = await verified(assertion, async () => jwkOf(key), { typ: RENEW_TYPE, now });
  if (!read.ok) return read;
  if (read.claims.iss !== deviceId || read.claims.sub !== deviceId) return refused('names two devices');
  return { ok: true, deviceId, publicKey: key, assertion: read.assertion };
}

/** What an assertion says of itself, before anything of it is proven: only to find the key that it has to be proven with. */
function claimedDevice(assertion: string): DeviceId | undefined {
  try {
    const [, claims = ''] = assertion.split('.');
    const { sub } = JSON.parse(Buffer.from(claims, 'base64url').toString('utf8')) as { sub?: unknown };
    return DeviceId.safeParse(sub).data;
  } catch {
    return undefined;
  }
}

interface Read extends Asserted {
  readonly ok: true;
  readonly claims: JWTPayload;
  readonly jwk: { readonly x?: unknown } | undefined;
}

async function verified(
  assertion: string,
  key: JWTVerifyGetKey,
  { typ, now }: { readonly typ: string; readonly now: number },
): Promise<Read | AssertionRefused> {
  try {
    const { payload, protectedHeader } = await jwtVerify(assertion, key, {
      algorithms: [ALGORITHM],
      typ,
      audience: ASSERTION_AUDIENCE,
      requiredClaims: ['iat', 'exp', 'jti'],
      currentDate: new Date(now),
      clockTolerance: CLOCK_SKEW_MS_MAX / 1_000,
    });
    const { iat = 0, exp = Infinity } = payload;
    if ((exp - iat) * 1_000 > LIMITS.assertionMs)
      return refused(`is good for more than ${LIMITS.assertionMs / 1_000} s`);
    if (iat * 1_000 - now > CLOCK_SKEW_MS_MAX) return skewed(iat, now);
    const id = createHash('sha256').update(assertion).digest('base64url');
    return { ok: true, claims: payload, jwk: protectedHeader['jwk'], assertion: { at: iat * 1_000, id } };
  } catch (error) {
    // Its signature was proven before its times were looked at.
    if (error instanceof errors.JWTExpired && typeof error.payload.iat === 'number') {
      return skewed(error.payload.iat, now);
    }
    return refused('is none, or is not signed with the key that it has to be signed with');
  }
}

function stamped(jwt: SignJWT, now: number): SignJWT {
  const issued = Math.floor(now / 1_000);
  return jwt
    .setAudience(ASSERTION_AUDIENCE)
    .setIssuedAt(issued)
    .setExpirationTime(issued + LIMITS.assertionMs / 1_000)
    .setJti(randomUUID());
}

function refused(what: string): AssertionRefused {
  return { ok: false, code: 'UNAUTHORIZED', reason: `The assertion ${what}.` };
}

/** It was made in `iat`, by the clock of the device, and has come now: what lies between is the difference of the clocks, or almost. */
function skewed(iat: number, now: number): AssertionRefused {
  const seconds = Math.round(iat - now / 1_000);
  const reason =
    `The clock of the device is about ${Math.abs(seconds)} s ${seconds > 0 ? 'ahead of' : 'behind'} the server's, ` +
    `where it is ${new Date(now).toISOString()}; set it right.`;
  return { ok: false, code: 'CLOCK_SKEW', reason };
}

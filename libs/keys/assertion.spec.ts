import { describe, expect, it } from '@jest/globals';
import { SignJWT, UnsecuredJWT } from 'jose';
import type { DeviceId, DeviceKey } from '#proto';
import {
  ASSERTION_AUDIENCE,
  JOIN_TYPE,
  makeJoinAssertion,
  makeRenewAssertion,
  RENEW_TYPE,
  verifyJoinAssertion,
  verifyRenewAssertion,
} from './assertion.js';
import { jwkOf, makeDeviceSecret, publicKeyOf, type DeviceSecret } from './device-key.js';
import { newJoinToken, tokenHash } from './generate.js';

const NOW = Date.parse('2026-11-20T15:40:40.489Z');
const TOKEN = newJoinToken();
const TOKEN_HASH = tokenHash(TOKEN);
const secret = makeDeviceSecret();
const other = makeDeviceSecret();
const keyOf = (deviceId: DeviceId): DeviceKey | undefined => (deviceId === 'web-1' ? publicKeyOf(secret) : undefined);

const join = (now = NOW) => makeJoinAssertion(secret, { token: TOKEN, now });
const renew = (now = NOW) => makeRenewAssertion(secret, { deviceId: 'web-1', now });
const joined = (assertion: string, now = NOW) => verifyJoinAssertion(assertion, { tokenHash: TOKEN_HASH, now });
const renewed = (assertion: string, now = NOW) => verifyRenewAssertion(assertion, { keyOf, now });

const UNAUTHORIZED = { ok: false, code: 'UNAUTHORIZED', reason: expect.stringMatching(/^The assertion .*\.$/u) };
const skewed = (reason: RegExp) => ({ ok: false, code: 'CLOCK_SKEW', reason: expect.stringMatching(reason) });

describe('a join assertion', () => {
  it('proves that its sender holds the key that it wants to bind', async () => {
    expect(await joined(await join())).toMatchObject({ ok: true, publicKey: publicKeyOf(secret) });
  });

  it('is good for one join token', async () => {
    const assertion = await join();
    const wanted = { tokenHash: tokenHash(newJoinToken()), now: NOW };
    expect(await verifyJoinAssertion(assertion, wanted)).toEqual(UNAUTHORIZED);
  });

  it('shows nothing of the token', async () => {
    const parts = (await join()).split('.').map((part) => Buffer.from(part, 'base64url').toString());
    expect(parts.join(' ')).not.toContain(TOKEN.slice(5));
  });

  it('is not taken for another key than the one that signed', async () => {
    const header = { alg: 'EdDSA', typ: JOIN_TYPE, jwk: jwkOf(publicKeyOf(other)) };
    expect(await joined(await forged(secret, header, { th: TOKEN_HASH }))).toEqual(UNAUTHORIZED);
  });

  it('is not taken without a key', async () => {
    expect(await joined(await forged(secret, { alg: 'EdDSA', typ: JOIN_TYPE }, { th: TOKEN_HASH }))).toEqual(
      UNAUTHORIZED,
    );
  });
});

describe('a renew assertion', () => {
  it('proves whose it is', async () => {
    expect(await renewed(await renew())).toMatchObject({ ok: true, deviceId: 'web-1', publicKey: publicKeyOf(secret) });
  });

  it('is good with the key that the device has now, and with no other', async () => {
    const ofOther = await makeRenewAssertion(other, { deviceId: 'web-1', now: NOW });
    expect(await renewed(ofOther)).toEqual(UNAUTHORIZED);
    const unknown = await makeRenewAssertion(secret, { deviceId: 'web-2', now: NOW });
    expect(await renewed(unknown)).toEqual(UNAUTHORIZED);
  });

  it('names one device', async () => {
    const header = { alg: 'EdDSA', typ: RENEW_TYPE };
    expect(await renewed(await forged(secret, header, { iss: 'web-2', sub: 'web-1' }))).toEqual(UNAUTHORIZED);
  });
});

describe('every assertion', () => {
  it('is good by any clock that is off by a minute at most', async () => {
    for (const ms of [-60_000, 60_000, 119_000])
      expect(await renewed(await renew(), NOW + ms)).toMatchObject({ ok: true });
    expect(await joined(await join(), NOW + 60_000)).toMatchObject({ ok: true });
  });

  it('is refused with the difference of the clocks when it is larger', async () => {
    const assertion = await renew();
    expect(await renewed(assertion, NOW - 62_000)).toEqual(
      skewed(/about 62 s ahead of the server's, where it is 2026-/u),
    );
    expect(await renewed(assertion, NOW + 3_600_000)).toEqual(skewed(/about 3600 s behind the server's/u));
    expect(await joined(await join(), NOW + 122_000)).toEqual(skewed(/about 122 s behind/u));
  });

  it('has its signature proven before anything is said about clocks', async () => {
    const ofOther = await makeRenewAssertion(other, { deviceId: 'web-1', now: NOW });
    expect(await renewed(ofOther, NOW + 3_600_000)).toEqual(UNAUTHORIZED);
  });

  it('lives for a minute', async () => {
    const header = { alg: 'EdDSA', typ: RENEW_TYPE };
    const claims = { iss: 'web-1', sub: 'web-1' };
    expect(await renewed(await forged(secret, header, { ...claims, exp: NOW / 1_000 + 3_600 }))).toEqual(UNAUTHORIZED);
  });

  it('is of its kind: one for renewing joins nobody, and the other way round', async () => {
    const asJoin = await forged(
      secret,
      { alg: 'EdDSA', typ: RENEW_TYPE, jwk: jwkOf(publicKeyOf(secret)) },
      { th: TOKEN_HASH, iss: 'web-1', sub: 'web-1' },
    );
    expect(await joined(asJoin)).toEqual(UNAUTHORIZED);
    const asRenew = await forged(secret, { alg: 'EdDSA', typ: JOIN_TYPE }, { iss: 'web-1', sub: 'web-1' });
    expect(await renewed(asRenew)).toEqual(UNAUTHORIZED);
  });

  it('is for this system', async () => {
    const header = { alg: 'EdDSA', typ: RENEW_TYPE };
    expect(await renewed(await forged(secret, header, { iss: 'web-1', sub: 'web-1', aud: 'elsewhere' }))).toEqual(
      UNAUTHORIZED,
    );
  });

  it('is signed', async () => {
    const unsigned = new UnsecuredJWT({ iss: 'web-1', sub: 'web-1', aud: ASSERTION_AUDIENCE, jti: 'x' });
    expect(
      await renewed(
        unsigned
          .setIssuedAt(NOW / 1_000)
          .setExpirationTime(NOW / 1_000 + 60)
          .encode(),
      ),
    ).toEqual(UNAUTHORIZED);
    const [header, , signature] = (await renew()).split('.');
    const [, claims] = (await renew(NOW + 30_000)).split('.');
    expect(await renewed([header, claims, signature].join('.'))).toEqual(UNAUTHORIZED);
  });

  it('can be garbage, without throwing', async () => {
    for (const garbage of ['', '.', '..', 'a.b.c', 'e30.e30.', `${'A'.repeat(4_000)}.B.C`, 'e30.bnVsbA.e30']) {
      expect(await renewed(garbage)).toEqual(UNAUTHORIZED);
      expect(await joined(garbage)).toEqual(UNAUTHORIZED);
    }
  });
});

function forged(
  key: DeviceSecret,
  header: { alg: string; typ: string; jwk?: object },
  claims: Record<string, unknown>,
): Promise<string> {
  const iat = Math.floor(NOW / 1_000);
  const all = { aud: ASSERTION_AUDIENCE, iat, exp: iat + 60, jti: 'x', ...claims };
  return new SignJWT(all).setProtectedHeader(header).sign(key);
}

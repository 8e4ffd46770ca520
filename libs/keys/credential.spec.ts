import { describe, expect, it } from '@jest/globals';
import { createUser } from '@nats-io/nkeys';
import { SignJWT, UnsecuredJWT } from 'jose';
import { CredentialIssuer } from './credential.js';
import { makeDeviceSecret, publicKeyOf, thumbprintOf } from './device-key.js';
import { ed25519PrivateKeyOf } from './nkey.js';

const NOW = Date.parse('2026-11-20T15:40:40.489Z');
const LIFE_MS = 3_600_000;
const ASSERTED = { at: NOW, id: 'one' };
const SEED = new TextDecoder().decode(createUser().getSeed());
const KEY = publicKeyOf(makeDeviceSecret());
const issuer = new CredentialIssuer({ seed: SEED, lifeMs: LIFE_MS });

describe('a credential', () => {
  it('names the device, its key and its end, to every replica', async () => {
    const { credential, expiresAt } = await issuer.issue('web-1', KEY, ASSERTED);
    const replica = new CredentialIssuer({ seed: SEED, lifeMs: 1 });
    const claims = { deviceId: 'web-1', thumbprint: await thumbprintOf(KEY), expiresAt };
    expect(await replica.read(credential, NOW)).toEqual(claims);
    expect(expiresAt).toBe('2026-11-20T16:40:40.000Z');
  });

  it('is the same for the same assertion, from every replica, and another one for another', async () => {
    const one = await issuer.issue('web-1', KEY, ASSERTED);
    const replica = new CredentialIssuer({ seed: SEED, lifeMs: LIFE_MS });
    expect(await replica.issue('web-1', KEY, ASSERTED)).toEqual(one);
    expect((await issuer.issue('web-1', KEY, { ...ASSERTED, id: 'other' })).credential).not.toBe(one.credential);
  });

  it('ends when it says so', async () => {
    const { credential, expiresAt } = await issuer.issue('web-1', KEY, ASSERTED);
    expect(await issuer.read(credential, Date.parse(expiresAt) - 1_000)).toBeDefined();
    expect(await issuer.read(credential, Date.parse(expiresAt))).toBeUndefined();
  });

  it('fits into a header', async () => {
    expect((await issuer.issue('d'.repeat(64), KEY, ASSERTED)).credential.length).toBeLessThan(1_024);
  });
});

describe('no credential', () => {
  const claims = async (changes: object = {}) => {
    const iat = Math.floor(NOW / 1_000);
    const cnf = { jkt: await thumbprintOf(KEY) };
    return { iss: 'orrery', aud: 'aip', sub: 'web-1', iat, exp: iat + 60, cnf, ...changes };
  };
  const signed = async (changes: object = {}, typ = 'orrery-credential+jwt', seed = SEED) =>
    new SignJWT(await claims(changes)).setProtectedHeader({ alg: 'EdDSA', typ }).sign(ed25519PrivateKeyOf(seed));

  it('is what differs from one in one thing', async () => {
    expect(await issuer.read(await signed(), NOW)).toMatchObject({ deviceId: 'web-1' });
    const others = [
      await signed({ aud: 'console' }),
      await signed({ iss: 'somebody' }),
      await signed({ sub: 'not a device id' }),
      await signed({ sub: undefined }),
      await signed({ exp: undefined }),
      await signed({ cnf: undefined }),
      await signed({ cnf: {} }),
      await signed({ nbf: Math.floor(NOW / 1_000) + 60 }),
      await signed({}, 'JWT'),
      await signed({}, 'orrery-renew+jwt'),
      await signed({}, undefined, new TextDecoder().decode(createUser().getSeed())),
    ];
    for (const other of others) expect(await issuer.read(other, NOW)).toBeUndefined();
  });

  it('is what nobody has signed, or what was signed with a secret that everybody knows', async () => {
    const unsigned = new UnsecuredJWT(await claims()).encode();
    expect(await issuer.read(unsigned, NOW)).toBeUndefined();
    const shared = new TextEncoder().encode(KEY);
    const symmetric = new SignJWT(await claims()).setProtectedHeader({ alg: 'HS256', typ: 'orrery-credential+jwt' });
    expect(await issuer.read(await symmetric.sign(shared), NOW)).toBeUndefined();
  });

  it('is garbage, without throwing', async () => {
    for (const garbage of ['', '.', '..', 'a.b.c', 'e30.e30.', 'A'.repeat(4_096)]) {
      expect(await issuer.read(garbage, NOW)).toBeUndefined();
    }
  });
});

describe('the issuer', () => {
  it('needs the seed of an nkey', () => {
    for (const seed of ['', 'no seed', createUser().getPublicKey()]) {
      expect(() => new CredentialIssuer({ seed, lifeMs: LIFE_MS })).toThrow();
    }
  });
});

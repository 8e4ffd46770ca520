import { describe, expect, it } from '@jest/globals';
import { createUser, fromSeed } from '@nats-io/nkeys';
import { LIMITS, LoginCode } from '#proto';
import {
  decodeLoginCode,
  encodeLoginCode,
  loginCodeId,
  newLoginNonce,
  proveActor,
  signLoginCode,
  verifyLoginCode,
} from './index.js';

const SEED = new TextDecoder().decode(createUser().getSeed());
const KEY = fromSeed(new TextEncoder().encode(SEED)).getPublicKey();
const NOW = Date.parse('2026-11-20T15:40:40.489Z');
const issuedAt = new Date(NOW).toISOString();
const origin = 'http://127.0.0.1:8080';
const nonce = newLoginNonce();
const code = signLoginCode(SEED, { origin, issuedAt, nonce });
const use = { hosts: ['127.0.0.1:8080', 'console.example'], now: NOW };
const refused = (reason: RegExp) => ({ ok: false, reason: expect.stringMatching(reason) });
const UNFIT = refused(/^This is no code/u);

describe('a code that logs in', () => {
  it('names the key that signed it, and crosses an address', () => {
    const text = encodeLoginCode(code);
    expect(text).toMatch(/^[\w-]+$/u);
    expect(decodeLoginCode(text)).toEqual(LoginCode.parse(code));
    expect(verifyLoginCode(code, use)).toEqual({ ok: true, key: KEY });
  });

  it('is signed as a key of the bus signs: whoever has nkeys can make one', () => {
    const text = `{"issuedAt":"${issuedAt}","key":"${KEY}","kind":"console-login","nonce":"${nonce}","origin":"${origin}"}`;
    const signature = fromSeed(new TextEncoder().encode(SEED)).sign(new TextEncoder().encode(text));
    const byHand = { ...code, signature: Buffer.from(signature).toString('base64url') };
    expect(verifyLoginCode(byHand, use)).toEqual({ ok: true, key: KEY });
  });

  it('is good for one console', () => {
    expect(verifyLoginCode(code, { ...use, hosts: ['127.0.0.1:8081'] })).toEqual(refused(/another console/u));
    expect(verifyLoginCode(code, { ...use, hosts: [] })).toEqual(refused(/another console/u));
  });

  it('is good for a short while', () => {
    const at = (ms: number) => verifyLoginCode(code, { ...use, now: NOW + ms }).ok;
    expect([-60_000, 0, LIMITS.loginCodeMs - 1].map(at)).toEqual([true, true, true]);
    expect([-60_001, LIMITS.loginCodeMs].map(at)).toEqual([false, false]);
  });

  it('has an id that says nothing of it, and is the same however it is written', () => {
    const turned = Object.fromEntries(Object.entries(code).toReversed()) as LoginCode;
    expect(loginCodeId({ ...turned, signature: 'AAAA' })).toBe(loginCodeId(code));
    const other = signLoginCode(SEED, { origin, issuedAt, nonce: newLoginNonce() });
    expect(loginCodeId(other)).not.toBe(loginCodeId(code));
  });

  it('is none when anything of it is other than it was signed', () => {
    const another = new TextDecoder().decode(createUser().getSeed());
    const proof = proveActor(SEED, { subject: 'console-login', at: issuedAt, body: { origin, nonce } });
    const changes: Partial<LoginCode>[] = [
      { origin: 'http://console.example' },
      { nonce: newLoginNonce() },
      { issuedAt: new Date(NOW + 1).toISOString() },
      { key: signLoginCode(another, { origin, issuedAt, nonce }).key },
      { signature: '' },
      { signature: Buffer.alloc(64).toString('base64url') },
      { signature: proof.signature },
    ];
    for (const change of changes) expect(verifyLoginCode({ ...code, ...change }, use)).toEqual(UNFIT);
  });

  it('is not made of garbage, which never throws', () => {
    for (const text of [
      '',
      '%',
      'x'.repeat(3_000),
      Buffer.from('null').toString('base64url'),
      encodeLoginCode(code).slice(1),
    ])
      expect(decodeLoginCode(text)).toBeUndefined();
    for (const given of [null, {}, { ...code, key: 'U' }, { ...code, extra: 1 }])
      expect(verifyLoginCode(given as LoginCode, use)).toEqual(UNFIT);
    const nowhere = signLoginCode(SEED, { origin: 'nowhere', issuedAt, nonce });
    expect(verifyLoginCode(nowhere, use)).toEqual(UNFIT);
  });
});

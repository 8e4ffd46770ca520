import { describe, expect, it } from '@jest/globals';
import { createUser, fromSeed } from '@nats-io/nkeys';
import { EditGrant, LIMITS } from '#proto';
import {
  decodeEditGrant,
  encodeEditGrant,
  grantIdOf,
  isSignedGrant,
  PROOF_MS_MAX,
  signEditGrant,
  verifyEditGrant,
} from './index.js';

const SEED = new TextDecoder().decode(createUser().getSeed());
const KEY = fromSeed(new TextEncoder().encode(SEED)).getPublicKey();
const NOW = Date.parse('2026-11-20T15:40:40.489Z');
const HOUR = 3_600_000;
const runId = 'run-1';
const at = (ms: number) => new Date(ms).toISOString();
const [issuedAt, expiresAt] = [at(NOW), at(NOW + HOUR)];
const GIVEN = { runId, access: 'edit', issuedAt, expiresAt } as const;
const grant = signEditGrant(SEED, GIVEN);
const use = { runId, now: NOW, access: 'edit' } as const;

const GOOD = { ok: true, key: KEY };
const refusedFor = (reason: RegExp) => ({ ok: false, reason: expect.stringMatching(reason) });
const UNFIT = refusedFor(/^The grant does not fit its key\.$/u);

describe('a grant to edit', () => {
  it('names the key that signed it, and crosses the wire', () => {
    expect(EditGrant.parse(JSON.parse(JSON.stringify(grant)))).toEqual(grant);
    expect(verifyEditGrant(grant, use)).toEqual(GOOD);
  });

  it('is a bearer token of characters that every header takes', () => {
    const token = encodeEditGrant(grant);
    expect(token).toMatch(/^[A-Za-z0-9_-]+$/u);
    expect(decodeEditGrant(token)).toEqual(grant);
  });

  it('is signed as a key of the bus signs: whoever has nkeys can make one', () => {
    const { signature: _, ...said } = grant;
    const text = `{"access":"edit","expiresAt":"${expiresAt}","issuedAt":"${issuedAt}","key":"${KEY}","kind":"constellation-access","runId":"run-1"}`;
    const signature = fromSeed(new TextEncoder().encode(SEED)).sign(new TextEncoder().encode(text));
    const byHand = { ...said, signature: Buffer.from(signature).toString('base64url') };
    expect(verifyEditGrant(byHand, use)).toEqual(GOOD);
  });

  it('lets read, too; one that lets read does not let edit', () => {
    const reads = signEditGrant(SEED, { ...GIVEN, access: 'read' });
    expect(verifyEditGrant(grant, { ...use, access: 'read' })).toEqual(GOOD);
    expect(verifyEditGrant(reads, { ...use, access: 'read' })).toEqual(GOOD);
    expect(verifyEditGrant(reads, use)).toEqual(refusedFor(/lets read only/u));
  });

  it('is for one run', () => {
    expect(verifyEditGrant(grant, { ...use, runId: 'run-2' })).toEqual(refusedFor(/is for run run-1, not for run-2/u));
  });

  it('ends when it says, and says so within a day of when it was signed', () => {
    const until = (ms: number) => signEditGrant(SEED, { ...GIVEN, expiresAt: at(ms) });
    expect(verifyEditGrant(grant, { ...use, now: NOW + HOUR - 1 })).toEqual(GOOD);
    expect(verifyEditGrant(grant, { ...use, now: NOW + HOUR })).toEqual(refusedFor(/was good until/u));
    expect(verifyEditGrant(until(NOW + LIMITS.editGrantMsMax), use)).toEqual(GOOD);
    const tooLong = until(NOW + LIMITS.editGrantMsMax + 1);
    expect(verifyEditGrant(tooLong, use)).toEqual(refusedFor(/longer than 24 h/u));
    // Not later either, when no more than a day is left.
    expect(verifyEditGrant(tooLong, { ...use, now: NOW + HOUR })).toEqual(refusedFor(/longer than 24 h/u));
  });

  it('says when it was signed, which is not to come', () => {
    const signed = (ms: number) => signEditGrant(SEED, { ...GIVEN, issuedAt: at(ms) });
    expect(verifyEditGrant(signed(NOW + PROOF_MS_MAX), use)).toEqual(GOOD);
    expect(verifyEditGrant(signed(NOW + PROOF_MS_MAX + 1), use)).toEqual(refusedFor(/is in the future: compare/u));
    const { signature: _, issuedAt: __, ...said } = grant;
    const text = JSON.stringify({ access: said.access, expiresAt, key: KEY, kind: said.kind, runId });
    const signature = fromSeed(new TextEncoder().encode(SEED)).sign(new TextEncoder().encode(text));
    const undated = { ...said, signature: Buffer.from(signature).toString('base64url') };
    expect(isSignedGrant(undated)).toBe(true);
    expect(verifyEditGrant(undated, use)).toEqual(refusedFor(/does not say when it was signed; make another one/u));
  });

  it.each<[string, Partial<EditGrant>]>([
    ['another run', { runId: 'run-2' }],
    ['a later birth', { issuedAt: new Date(NOW + 1).toISOString() }],
    ['no birth', { issuedAt: undefined }],
    ['a later end', { expiresAt: new Date(NOW + 2 * HOUR).toISOString() }],
    ['more access', { access: 'read' }],
    ["another's key", { key: createUser().getPublicKey() }],
    ['another signature', { signature: Buffer.alloc(64, 7).toString('base64url') }],
    ['no signature', { signature: '' }],
    ['no key', { key: `U${'A'.repeat(55)}` }],
    ['no time', { expiresAt: 'tomorrow' }],
  ])('with %s written into it is none', (_, change) => {
    const tampered = { ...grant, ...change };
    expect(verifyEditGrant(tampered, { ...use, runId: tampered.runId, access: 'read' })).toEqual(UNFIT);
  });

  it('is nothing but a grant: no garbage throws', () => {
    for (const given of [{}, null, 'grant', { ...grant, admin: true }, { ...grant, runId: '\uD800' }]) {
      expect(verifyEditGrant(given as EditGrant, use)).toEqual(UNFIT);
    }
    const asToken = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const garbage = ['', '!', 'e30', asToken({ ...grant, admin: true }), 'A'.repeat(5_000), '_w'];
    expect(garbage.map((token) => decodeEditGrant(token))).toEqual(garbage.map(() => undefined));
  });
});

describe('the id of a grant', () => {
  it('is of what was signed: one and the same however the token is written', () => {
    const fixed = { kind: 'constellation-access', runId: 'run-1', access: 'edit', key: `U${'A'.repeat(55)}` } as const;
    const known = { ...fixed, issuedAt: '2026-11-20T15:40:40.489Z', expiresAt: '2026-11-20T16:40:40.489Z' };
    expect(grantIdOf({ ...known, signature: 'AAAA' })).toBe(
      'dd946c95d76649f42f89bf1b84ec561dde07854daca2e064e9a7098a8aadba42',
    );
    const { signature, ...said } = grant;
    const turned = Object.fromEntries(Object.entries({ ...said, signature }).toReversed());
    const token = Buffer.from(JSON.stringify(turned, null, 2)).toString('base64url');
    const again = decodeEditGrant(token);
    expect(again === undefined ? undefined : [isSignedGrant(again), grantIdOf(again)]).toEqual([
      true,
      grantIdOf(grant),
    ]);
    expect(grantIdOf({ ...grant, signature: 'AAAA' })).toBe(grantIdOf(grant));
  });

  it.each<[string, Partial<Parameters<typeof signEditGrant>[1]>]>([
    ['run', { runId: 'run-2' }],
    ['access', { access: 'read' }],
    ['birth', { issuedAt: at(NOW + 1) }],
    ['end', { expiresAt: at(NOW + HOUR + 1) }],
  ])('is another one with another %s', (_, change) => {
    expect(grantIdOf(signEditGrant(SEED, { ...GIVEN, ...change }))).not.toBe(grantIdOf(grant));
  });

  it('is another one of another signer', () => {
    const other = new TextDecoder().decode(createUser().getSeed());
    expect(grantIdOf(signEditGrant(other, GIVEN))).not.toBe(grantIdOf(grant));
  });

  it('of what nobody has signed says nothing: whoever has a broken token hears that it is broken', () => {
    expect(isSignedGrant(grant)).toBe(true);
    expect(isSignedGrant({ ...grant, runId: 'run-2' })).toBe(false);
    expect(isSignedGrant({ ...grant, key: `U${'A'.repeat(55)}` })).toBe(false);
  });
});

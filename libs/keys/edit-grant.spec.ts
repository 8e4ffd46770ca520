import { describe, expect, it } from '@jest/globals';
import { createUser, fromSeed } from '@nats-io/nkeys';
import { EditGrant, LIMITS } from '#proto';
import { decodeEditGrant, encodeEditGrant, signEditGrant, verifyEditGrant } from './index.js';

const SEED = new TextDecoder().decode(createUser().getSeed());
const KEY = fromSeed(new TextEncoder().encode(SEED)).getPublicKey();
const NOW = Date.parse('2026-11-20T15:40:40.489Z');
const HOUR = 3_600_000;
const runId = 'run-1';
const expiresAt = new Date(NOW + HOUR).toISOString();
const grant = signEditGrant(SEED, { runId, access: 'edit', expiresAt });
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
    const text = `{"access":"edit","expiresAt":"${expiresAt}","key":"${KEY}","kind":"constellation-access","runId":"run-1"}`;
    const signature = fromSeed(new TextEncoder().encode(SEED)).sign(new TextEncoder().encode(text));
    const byHand = { ...said, signature: Buffer.from(signature).toString('base64url') };
    expect(verifyEditGrant(byHand, use)).toEqual(GOOD);
  });

  it('lets read, too; one that lets read does not let edit', () => {
    const reads = signEditGrant(SEED, { runId, access: 'read', expiresAt });
    expect(verifyEditGrant(grant, { ...use, access: 'read' })).toEqual(GOOD);
    expect(verifyEditGrant(reads, { ...use, access: 'read' })).toEqual(GOOD);
    expect(verifyEditGrant(reads, use)).toEqual(refusedFor(/lets read only/u));
  });

  it('is for one run', () => {
    expect(verifyEditGrant(grant, { ...use, runId: 'run-2' })).toEqual(refusedFor(/is for run run-1, not for run-2/u));
  });

  it('ends when it says, and says so within a day', () => {
    const until = (ms: number) => signEditGrant(SEED, { runId, access: 'edit', expiresAt: new Date(ms).toISOString() });
    expect(verifyEditGrant(grant, { ...use, now: NOW + HOUR - 1 })).toEqual(GOOD);
    expect(verifyEditGrant(grant, { ...use, now: NOW + HOUR })).toEqual(refusedFor(/was good until/u));
    expect(verifyEditGrant(until(NOW + LIMITS.editGrantMsMax), use)).toEqual(GOOD);
    expect(verifyEditGrant(until(NOW + LIMITS.editGrantMsMax + 1), use)).toEqual(refusedFor(/longer than 24 h/u));
  });

  it.each<[string, Partial<EditGrant>]>([
    ['another run', { runId: 'run-2' }],
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

import { describe, expect, it } from '@jest/globals';
import { GRANTS_ID, LIMITS, type Actor, type FleetEvent, type GrantSelection, type RevokedGrants } from '#proto';
import { sealNext } from '#libs/event-log';
import { decideGrantRevocation, evolveGrantRevocations, standing, type GrantRevocation } from './grants.js';
import { ANNA, at, enrolled, T0 } from './testing/given.js';

const BERT: Actor = { kind: 'person', id: 'bert' };
const KEY = `U${'A'.repeat(55)}`;
const ONE: GrantSelection = { kind: 'grant', grantId: 'a'.repeat(64) };
const idOf = (index: number): GrantSelection => ({ kind: 'grant', grantId: index.toString(16).padStart(64, '0') });
const order = { by: ANNA, key: KEY, signedAt: T0, reason: 'stolen', now: T0 };
const single = (grants: GrantSelection, by = ANNA, ms = 0): RevokedGrants => {
  if (grants.kind !== 'grant') throw new Error('a single one');
  return { by, reason: 'stolen', revokedAt: at(ms), grants };
};
const given = (...revoked: RevokedGrants[]): GrantRevocation[] =>
  revoked.map((each, index) => ({ sequence: index + 1, revoked: each }));
const decided = (data: RevokedGrants) => ({ kind: 'accepted', events: [{ type: 'GRANTS_REVOKED', data }] });

describe('revoking grants', () => {
  it('of one says who, why and when', () => {
    expect(decideGrantRevocation([], { ...order, grants: ONE })).toEqual(decided(single(ONE)));
  });

  it('of one is done once, by whichever person', () => {
    const again = decideGrantRevocation(given(single(ONE)), { ...order, by: BERT, grants: ONE });
    expect(again).toEqual({ kind: 'ignored', reason: 'ALREADY_REVOKED' });
  });

  it.each<[string, Exclude<GrantSelection, { kind: 'grant' }>]>([
    ['a run', { kind: 'run', runId: 'run-1' }],
    ['everything', { kind: 'all' }],
  ])('of %s is of the own key, until the later of two clocks, and again whenever it is said', (_, grants) => {
    const until = (ms: number): RevokedGrants => {
      const own = { key: KEY, signedUntil: at(ms) };
      const which = grants.kind === 'run' ? { ...grants, ...own } : { ...grants, ...own };
      return { by: ANNA, reason: 'stolen', revokedAt: at(0), grants: which };
    };
    expect(decideGrantRevocation([], { ...order, grants })).toEqual(decided(until(0)));
    expect(decideGrantRevocation([], { ...order, signedAt: T0 + 5, grants })).toEqual(decided(until(5)));
    expect(decideGrantRevocation([], { ...order, signedAt: T0 - 5, grants })).toEqual(decided(until(0)));
    expect(decideGrantRevocation(given(until(0)), { ...order, grants })).toEqual(decided(until(0)));
  });

  it('has an end for each person: a thousand single ones a day, and still all at once', () => {
    const many = given(...Array.from({ length: LIMITS.grantRevocationsMax }, (_, index) => single(idOf(index))));
    const refused = { kind: 'rejected', reason: 'TOO_MANY_GRANTS' };
    expect(decideGrantRevocation(many.slice(1), { ...order, grants: ONE }).kind).toBe('accepted');
    expect(decideGrantRevocation(many, { ...order, grants: ONE })).toEqual(refused);
    expect(decideGrantRevocation(many, { ...order, by: BERT, grants: ONE }).kind).toBe('accepted');
    expect(decideGrantRevocation(many, { ...order, grants: { kind: 'all' } }).kind).toBe('accepted');
    const nextDay = T0 + LIMITS.grantRevocationMs;
    expect(decideGrantRevocation(many, { ...order, now: nextDay, grants: ONE }).kind).toBe('accepted');
  });

  it('stands until no grant can be meant by it', () => {
    const known = given(single(ONE), single(idOf(1), ANNA, 1_000));
    expect(standing(known, T0 + LIMITS.grantRevocationMs - 1)).toEqual(known);
    expect(standing(known, T0 + LIMITS.grantRevocationMs)).toEqual(known.slice(1));
  });
});

describe('the fold of revocations', () => {
  const commitOf = (events: FleetEvent[], ms: number) =>
    sealNext({ number: 1, hash: 'a'.repeat(64), events: 1 }, { deviceId: GRANTS_ID }, events, {
      commit: '01JD4Q6Z8W3V5X7Y9A0B1C2D3E',
      now: T0 + ms,
      by: { service: 'registry', instance: 'a' },
      causes: [],
    });

  it('leaves out what is over by the time of the commit, and nothing else', () => {
    const event: FleetEvent = { type: 'GRANTS_REVOKED', data: single(idOf(2)) };
    const known = given(single(ONE));
    const after = (ms: number) => evolveGrantRevocations(known, commitOf([event], ms)).map(({ sequence }) => sequence);
    expect(after(1)).toEqual([1, 2]);
    expect(after(LIMITS.grantRevocationMs)).toEqual([2]);
  });

  it('takes nothing that is said of devices', () => {
    expect(() => evolveGrantRevocations([], commitOf([enrolled()], 0))).toThrow('cannot be said of grants');
  });
});

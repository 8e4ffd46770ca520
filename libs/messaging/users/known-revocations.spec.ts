import { describe, expect, it } from '@jest/globals';
import { createUser } from '@nats-io/nkeys';
import fc from 'fast-check';
import { grantIdOf, signEditGrant } from '#libs/keys';
import { LIMITS, type EditGrant, type RevokedGrants } from '#proto';
import { KnownRevocations } from './known-revocations.js';

const NOW = Date.parse('2026-11-20T15:40:40.489Z');
const HOUR = 3_600_000;
const at = (ms: number) => new Date(NOW + ms).toISOString();
const newSeed = () => new TextDecoder().decode(createUser().getSeed());
const [anna, bert] = [newSeed(), newSeed()];
const signed = (seed: string, ms: number, runId = 'run-1'): EditGrant =>
  signEditGrant(seed, { runId, access: 'edit', issuedAt: at(ms), expiresAt: at(ms + HOUR) });
const said = (grants: RevokedGrants['grants'], ms = 0): RevokedGrants => ({
  by: { kind: 'person', id: 'anna' },
  reason: '',
  revokedAt: at(ms),
  grants,
});
const one = (grant: EditGrant, ms = 0) => said({ kind: 'grant', grantId: grantIdOf(grant) }, ms);
const ofRun = ({ key, runId }: EditGrant, ms: number) => said({ kind: 'run', runId, key, signedUntil: at(ms) }, ms);
const all = ({ key }: EditGrant, ms: number) => said({ kind: 'all', key, signedUntil: at(ms) }, ms);

function knowing(...revoked: RevokedGrants[]): KnownRevocations {
  const known = new KnownRevocations();
  for (const each of revoked) known.add(each);
  return known;
}

describe('what was revoked', () => {
  const grant = signed(anna, 0);

  it('is nothing at first', () => {
    expect(knowing().of(grant)).toBeUndefined();
  });

  it('by its id is one grant, and none like it', () => {
    const known = knowing(one(grant));
    expect(known.of(grant)).toEqual(one(grant));
    for (const other of [signed(anna, 1), signed(anna, 0, 'run-2'), signed(bert, 0)]) {
      expect(known.of(other)).toBeUndefined();
    }
  });

  it('of a run is what one person has signed for it until then', () => {
    const known = knowing(ofRun(grant, 10));
    expect(known.of(signed(anna, 10))).toEqual(ofRun(grant, 10));
    for (const other of [signed(anna, 11), signed(anna, 0, 'run-2'), signed(bert, 0)]) {
      expect(known.of(other)).toBeUndefined();
    }
  });

  it('of a person is what she has signed until then, for whichever run', () => {
    const known = knowing(all(grant, 10));
    expect(known.of(signed(anna, 10, 'run-2'))).toEqual(all(grant, 10));
    for (const other of [signed(anna, 11), signed(bert, 0)]) expect(known.of(other)).toBeUndefined();
  });

  it('is more, whichever reaches further comes first', () => {
    const [first, second] = [all(grant, 10), all(grant, 20)];
    for (const order of [
      [first, second],
      [second, first],
    ]) {
      expect(knowing(...order).of(signed(anna, 15))).toEqual(second);
    }
  });

  it('and does not say when it was signed counts as signed before', () => {
    const { issuedAt: _, ...undated } = grant;
    expect(knowing(ofRun(grant, 10)).of(undated)).toBeDefined();
  });

  it('stays known as long as it could be used, and not much longer', () => {
    const kept = one(grant);
    const other = (ms: number) => one(signed(bert, ms), ms);
    expect(knowing(kept, other(LIMITS.grantRevocationMs - 1)).of(grant)).toEqual(kept);
    expect(knowing(kept, other(LIMITS.grantRevocationMs)).of(grant)).toBeUndefined();
    expect(knowing(ofRun(grant, 0), other(LIMITS.grantRevocationMs)).of(grant)).toBeUndefined();
  });

  it('is the same in any order, and when it is said twice', () => {
    const words = [one(grant), one(signed(bert, 0)), ofRun(grant, 5), all(grant, 3), all(signed(bert, 0), 9)];
    const grants = [anna, bert].flatMap((seed) =>
      [0, 4, 9, 10].flatMap((ms) => [signed(seed, ms), signed(seed, ms, 'run-2')]),
    );
    const revoked = (order: readonly RevokedGrants[]) => {
      const known = knowing(...order);
      return grants.map((given) => known.of(given) !== undefined);
    };
    const expected = revoked(words);
    fc.assert(
      fc.property(fc.shuffledSubarray([...words, ...words], { minLength: words.length * 2 }), (order) => {
        expect(revoked(order)).toEqual(expected);
      }),
      { numRuns: 50 },
    );
  });
});

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fused } from './rank-fusion.js';

interface Ranked {
  readonly id: string;
  readonly learntAt: string;
}

/** All examples that there are; the higher the letter the newer, in pairs that are of one age. */
const ALL: readonly Ranked[] = 'abcdefghijkl'.split('').map((id, at) => ({
  id,
  learntAt: new Date(Date.UTC(2026, 10, 20, Math.floor(at / 2))).toISOString(),
}));
const ranking = (ids: string): Ranked[] => ids.split('').flatMap((id) => ALL.filter((one) => one.id === id));
const ids = (examples: readonly Ranked[]): string => examples.map(({ id }) => id).join('');

describe('a fused ranking', () => {
  it('has first what both rankings have, wherever', () => {
    expect(ids(fused([ranking('abc'), ranking('dc')], 3))).toBe('cda');
  });

  it('is the one ranking there is', () => {
    expect(ids(fused([ranking('cab'), []], 9))).toBe('cab');
    expect(fused([[], []], 9)).toEqual([]);
  });

  it('orders what is worth the same by age, newest first, then by id', () => {
    expect(ids(fused([ranking('a'), ranking('c')], 2))).toBe('ca');
    expect(ids(fused([ranking('d'), ranking('c')], 2))).toBe('cd');
  });

  const rankings = fc.array(fc.shuffledSubarray([...ALL]), { minLength: 2, maxLength: 2 });

  it('has each example of any ranking once, and less of the same when there is room for less', () => {
    fc.assert(
      fc.property(rankings, fc.nat(ALL.length), (two, limit) => {
        const all = ids(fused(two, ALL.length));
        expect(all.split('').toSorted()).toEqual([...new Set(two.flat().map(({ id }) => id))].toSorted());
        expect(ids(fused(two, limit))).toBe(all.slice(0, limit));
      }),
    );
  });

  it('does not depend on the order of the rankings', () => {
    fc.assert(
      fc.property(rankings, (two) => {
        expect(ids(fused(two.toReversed(), ALL.length))).toBe(ids(fused(two, ALL.length)));
      }),
    );
  });

  it('has one example before another that is behind it, or missing, in every ranking', () => {
    fc.assert(
      fc.property(rankings, (two) => {
        const all = ids(fused(two, ALL.length));
        const place = (at: Ranked, among: readonly Ranked[]) => (among.includes(at) ? among.indexOf(at) : Infinity);
        for (const one of ALL) {
          for (const other of ALL) {
            const isAhead = two.every((among) => place(one, among) < place(other, among));
            if (isAhead && all.includes(other.id)) expect(all.indexOf(one.id)).toBeLessThan(all.indexOf(other.id));
          }
        }
      }),
    );
  });
});

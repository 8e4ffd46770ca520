import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { PARTITIONS } from '#proto';
import { ownersOf, partitionsOf } from './assignment.js';

const ALL = Array.from({ length: PARTITIONS }, (_, partition) => partition);
/** More groups than a system ever sees, always the same ones. */
const CASES = { seed: 20_261_121, numRuns: 300 };
const MEMBERS_MAX = 8;

const member = fc.stringMatching(/^orchestrator\.[a-z0-9-]{1,12}$/u);
const groups = (minLength: number) => fc.uniqueArray(member, { minLength, maxLength: MEMBERS_MAX });
const countsOf = (members: readonly string[]) => {
  const owners = ownersOf(members);
  return members.map((one) => owners.filter((owner) => owner === one).length).toSorted((a, b) => a - b);
};

/** Partitions that go from one to another of those that live before and after. */
function movedAmongTheLiving(before: readonly string[], after: readonly string[]): number[] {
  const [owners, next] = [ownersOf(before), ownersOf(after)];
  return ALL.filter((partition) => {
    const [owner = '', successor = ''] = [owners[partition], next[partition]];
    return owner !== successor && after.includes(owner) && before.includes(successor);
  });
}

describe('ownersOf', () => {
  it('has nobody when nobody lives', () => expect(ownersOf([])).toEqual([]));

  it('gives everything to the only member, and nothing to a stranger', () => {
    expect(partitionsOf('a', ['a'])).toEqual(ALL);
    expect(partitionsOf('x', ['a', 'b'])).toEqual([]);
  });

  it('gives each partition to exactly one member, and nobody more than a fair share, rounded up', () =>
    fc.assert(
      fc.property(groups(1), (members) => {
        const owners = ownersOf(members);
        expect(owners).toHaveLength(PARTITIONS);
        expect(members).toEqual(expect.arrayContaining([...new Set(owners)]));
        expect(countsOf(members).at(-1)).toBeLessThanOrEqual(Math.ceil(PARTITIONS / members.length));
        const [one = ''] = members;
        expect(partitionsOf(one, members)).toEqual(ALL.filter((partition) => owners[partition] === one));
      }),
      CASES,
    ));

  it('does not depend on the order in which members are seen', () =>
    fc.assert(
      fc.property(groups(1), (members) => {
        expect(ownersOf(members.toReversed())).toEqual(ownersOf(members));
        expect(ownersOf(members.toSorted())).toEqual(ownersOf(members));
      }),
      CASES,
    ));

  it('moves little among the others when one comes or goes: below two on average, never a quarter', () => {
    const moves: number[] = [];
    fc.assert(
      fc.property(groups(2), (members) => {
        const others = members.slice(1);
        const moved = movedAmongTheLiving(members, others);
        expect(moved.length).toBeLessThan(PARTITIONS / 4);
        expect(movedAmongTheLiving(others, members)).toEqual(moved);
        moves.push(moved.length);
      }),
      CASES,
    );
    expect(moves.reduce((sum, count) => sum + count, 0) / moves.length).toBeLessThan(2);
  });

  it('leaves three replicas 10 or 11 partitions each, and two of them half of everything', () =>
    fc.assert(
      fc.property(groups(3), (members) => {
        expect(countsOf(members.slice(0, 3))).toEqual([10, 11, 11]);
        expect(countsOf(members.slice(0, 2))).toEqual([16, 16]);
      }),
      CASES,
    ));

  it('is the same in every version: replicas of two versions must agree', () => {
    expect(ownersOf(['a', 'b', 'c']).join('')).toBe('ccbbaaabaccbaababacccbaaccbbbcba');
  });
});

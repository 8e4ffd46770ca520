import { describe, expect, it } from '@jest/globals';
import { PARTITIONS } from '#proto';
import { ownerOf, partitionsOf } from './assignment.js';

const ALL = Array.from({ length: PARTITIONS }, (_, partition) => partition);
const owners = (members: readonly string[]) => ALL.map((partition) => ownerOf(partition, members));

describe('ownerOf', () => {
  it('has nobody when nobody lives', () => expect(ownerOf(0, [])).toBeUndefined());

  it('gives everything to the only member', () => expect(partitionsOf('a', ['a'])).toEqual(ALL));

  it('does not depend on the order in which members are seen', () => {
    expect(owners(['a', 'b', 'c'])).toEqual(owners(['c', 'a', 'b']));
  });

  it('gives each partition to exactly one member', () => {
    const members = ['orchestrator.a', 'orchestrator.b', 'orchestrator.c'];
    expect(members.flatMap((member) => partitionsOf(member, members)).toSorted((a, b) => a - b)).toEqual(ALL);
  });

  it('moves only the partitions of who comes or goes', () => {
    const [before, after] = [owners(['a', 'b', 'c']), owners(['a', 'b'])];
    expect(after.filter((owner, partition) => owner !== before[partition] && before[partition] !== 'c')).toEqual([]);
  });

  it('is the same in every version: replicas of two versions must agree', () => {
    expect(owners(['a', 'b', 'c']).join('')).toBe('bcbbaaabaccbaabbbacacbaabbbbbcba');
  });

  it('leaves nobody without work in a small group', () => {
    for (let size = 2; size <= 4; size++) {
      const members = Array.from({ length: size }, (_, index) => `orchestrator.01hzx${index}`);
      const counts = members.map((member) => partitionsOf(member, members).length);
      expect(Math.min(...counts)).toBeGreaterThanOrEqual(PARTITIONS / size / 3);
    }
  });
});

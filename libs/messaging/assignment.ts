import { PARTITIONS } from '#proto';

/**
 * Which of the living members serves a partition: the one with the highest hash of (member, partition). Everybody computes
 * the same, and a member that comes or goes moves only its own partitions.
 */
export function ownerOf(partition: number, members: readonly string[]): string | undefined {
  let owner: string | undefined;
  let highest = -1;
  for (const member of members) {
    const weight = weightOf(member, partition);
    if (weight > highest || (weight === highest && owner !== undefined && member < owner)) {
      owner = member;
      highest = weight;
    }
  }
  return owner;
}

/** The partitions of one member, ascending. */
export function partitionsOf(member: string, members: readonly string[]): number[] {
  return Array.from({ length: PARTITIONS }, (_, partition) => partition).filter(
    (partition) => ownerOf(partition, members) === member,
  );
}

/** FNV-1a over both, then murmur's finaliser: FNV alone leaves neighbouring partitions with one owner. */
function weightOf(member: string, partition: number): number {
  let hash = 0x811c9dc5;
  for (const char of `${member}/${partition}`) {
    hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

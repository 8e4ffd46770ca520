import { PARTITIONS } from '#proto';

/**
 * Which of the living members serves each partition, in order of the partitions; empty when nobody lives. Everybody computes
 * the same from the same members. Each partition goes to the member with the highest hash of (member, partition) that is not
 * full yet, and the highest hashes of all choose first. A member is full with its fair share, rounded up. So who comes or
 * goes moves its own partitions and the few that its coming or going makes room for.
 */
export function ownersOf(members: readonly string[]): string[] {
  const share = Math.ceil(PARTITIONS / members.length);
  const owners = new Map<number, string>();
  const served = new Map<string, number>();
  for (const { member, partition } of wishes(members)) {
    const count = served.get(member) ?? 0;
    if (owners.has(partition) || count === share) continue;
    owners.set(partition, member);
    served.set(member, count + 1);
  }
  return PARTITION_NUMBERS.flatMap((partition) => owners.get(partition) ?? []);
}

/** The partitions of one member, ascending. */
export function partitionsOf(member: string, members: readonly string[]): number[] {
  const owners = ownersOf(members);
  return PARTITION_NUMBERS.filter((partition) => owners[partition] === member);
}

const PARTITION_NUMBERS = Array.from({ length: PARTITIONS }, (_, partition) => partition);

interface Wish {
  readonly member: string;
  readonly partition: number;
  readonly weight: number;
}

/** Every member for every partition, the highest weight first. Ties are broken by what they are about, never by the order of `members`. */
function wishes(members: readonly string[]): Wish[] {
  return members
    .flatMap((member) =>
      PARTITION_NUMBERS.map((partition) => ({ member, partition, weight: weightOf(member, partition) })),
    )
    .toSorted((a, b) => b.weight - a.weight || a.partition - b.partition || Number(a.member > b.member) * 2 - 1);
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

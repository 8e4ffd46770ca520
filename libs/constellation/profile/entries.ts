import { type Actor, type AgentProfile, type Instant, type Json, PROFILE_GROUPS, type ProfileKey } from '#proto';

/** Who says something of a device, who wins first. */
export const PROFILE_SOURCES = ['administrator', 'service', 'device'] as const;
export type ProfileSource = (typeof PROFILE_SOURCES)[number];

/** What one source says. */
export interface Statement {
  readonly value: Json;
  /** Of the administrator: who it was. */
  readonly by?: Actor;
  /** When it was said; null: nobody knows. */
  readonly at: Instant | null;
}

/** What counts under a name, who says so, and what others say that does not count for it. */
export interface ProfileEntry extends Statement {
  readonly key: ProfileKey;
  readonly source: ProfileSource;
  readonly instead: readonly (Statement & { readonly key: ProfileKey; readonly source: ProfileSource })[];
}

export type SaidBy = Readonly<Record<ProfileSource, ReadonlyMap<ProfileKey, Statement>>>;

/**
 * One value for each name: the first source that has one wins. A name that lies inside of another one, or around it, is the same
 * place: what a source before has said there stands alone.
 */
export function mergeSaid(said: SaidBy): ProfileEntry[] {
  const merged = new Map<ProfileKey, ProfileEntry & { instead: ProfileEntry['instead'][number][] }>();
  for (const source of PROFILE_SOURCES) {
    for (const [key, one] of said[source]) {
      const winners = [...merged.values()].filter((entry) => entry.source !== source && isSamePlace(entry.key, key));
      if (winners.length === 0) merged.set(key, { key, source, ...one, instead: [] });
      for (const winner of winners) winner.instead.push({ key, source, ...one });
    }
  }
  return [...merged.values()].toSorted((one, other) => (one.key < other.key ? -1 : 1));
}

function isSamePlace(one: ProfileKey, other: ProfileKey): boolean {
  return one === other || one.startsWith(`${other}.`) || other.startsWith(`${one}.`);
}

/** All that is known of a device under names, each once, in their order. */
export function profileEntries(device: AgentProfile): readonly ProfileEntry[] {
  const known = read.get(device);
  if (known !== undefined) return known;
  const given = Object.entries(device.given ?? {});
  const entries = mergeSaid({
    administrator: new Map(given),
    service: serviceSays(device),
    device: deviceSays(device),
  });
  read.set(device, entries);
  return entries;
}

/** A profile is replaced when it changes, and never changed: what was read of it stays so. */
const read = new WeakMap<AgentProfile, readonly ProfileEntry[]>();

function serviceSays({ agent, enrolledAt }: AgentProfile): Map<ProfileKey, Statement> {
  return new Map([['agent', { value: agent, at: enrolledAt }]]);
}

const MIB_PER_GIB = 1024;
/** In the words in which machines are sold: a card of 24564 MiB is one of 24 GiB. */
const inGib = (mib: number): number => Math.round(mib / MIB_PER_GIB);

function deviceSays(device: AgentProfile): Map<ProfileKey, Statement> {
  const { os, arch, hostname, resources, metrics, diskMb, session, given } = device;
  const at = session?.connectedAt ?? null;
  const said = new Map<ProfileKey, Statement>();
  const say = (key: ProfileKey, value: Json | undefined, when = at): void => {
    if (value !== undefined && value !== '' && value !== 'unknown') said.set(key, { value, at: when });
  };
  // `os` of the profile is the merged one already.
  if (given?.['os'] === undefined) say('os', os);
  say('arch', arch);
  say('hostname', hostname);
  if (resources.cpuCount > 0) say('cpu.count', resources.cpuCount);
  if (resources.memoryMb > 0) say('memory.gb', inGib(resources.memoryMb));
  if (diskMb !== undefined) say('disk.gb', inGib(diskMb));
  if (metrics) say('disk.free_gb', Math.floor(metrics.diskFreeMb / MIB_PER_GIB), metrics.at);
  const cards = cardsOf(device);
  if (cards === undefined) return said;
  say('gpu.count', cards.list.length, cards.at);
  const largest = cards.list.toSorted((one, other) => (other.memoryMb ?? -1) - (one.memoryMb ?? -1))[0];
  if (largest === undefined) return said;
  say('gpu.name', largest.name, cards.at);
  say('gpu.vendor', largest.vendor, cards.at);
  if (largest.memoryMb === null) return said;
  say('gpu.memory_gb', inGib(largest.memoryMb), cards.at);
  say('gpu.memory_total_gb', inGib(cards.list.reduce((sum, { memoryMb }) => sum + (memoryMb ?? 0), 0)), cards.at);
  return said;
}

interface Cards {
  readonly list: readonly { readonly name: string; readonly vendor?: string; readonly memoryMb: number | null }[];
  readonly at: Instant | null;
}

/** As found at its connection; of a client that does not look then, as it measures them. That it measures none says nothing. */
function cardsOf({ gpus, metrics, session }: AgentProfile): Cards | undefined {
  if (gpus !== undefined) return { list: gpus, at: session?.connectedAt ?? null };
  return metrics && metrics.gpus.length > 0 ? { list: metrics.gpus, at: metrics.at } : undefined;
}

/** What counts of a device under one name, where it is a number. */
export function numberOf(device: AgentProfile, key: ProfileKey): number | undefined {
  const value = profileEntries(device).find((entry) => entry.key === key)?.value;
  return typeof value === 'number' ? value : undefined;
}

/** The exact size of its largest card in MiB, as it says itself. */
export function cardMemoryMb(device: AgentProfile): number | undefined {
  const sizes = (cardsOf(device)?.list ?? []).flatMap(({ memoryMb }) => memoryMb ?? []);
  return sizes.length === 0 ? undefined : Math.max(...sizes);
}

/** A profile as conditions read it: `gpu.memory_gb` is `memory_gb` in `gpu`; tags and capabilities are lists. */
export function profileTree(device: AgentProfile): Readonly<Record<string, Json>> {
  const known = trees.get(device);
  if (known !== undefined) return known;
  // Groups are always there: `has(profile.gpu.count)` is an answer also where nothing is known of cards.
  const tree: Record<string, Json> = Object.fromEntries(PROFILE_GROUPS.map((group) => [group, {}]));
  for (const { key, value } of profileEntries(device)) put(tree, key.split('.'), value);
  tree['tags'] = [...device.tags];
  tree['capabilities'] = [...device.capabilities];
  trees.set(device, tree);
  return tree;
}

const trees = new WeakMap<AgentProfile, Readonly<Record<string, Json>>>();

function put(tree: Record<string, Json>, path: readonly string[], value: Json): void {
  const [name = '', ...rest] = path;
  if (rest.length === 0) {
    tree[name] = value;
    return;
  }
  const inner = tree[name];
  const next = typeof inner === 'object' && inner !== null && !Array.isArray(inner) ? inner : {};
  tree[name] = next;
  put(next, rest, value);
}

const VALUE_CHARS_MAX = 160;

/**
 * What the administrator has said, by name, for who is to be told in few words: a value that is too long is cut, and says so. It is a
 * person's word; what devices say of themselves is not in it.
 */
export function givenValues({ given = {} }: Pick<AgentProfile, 'given'>): [ProfileKey, Json][] {
  const sorted = Object.entries(given).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return sorted.map(([key, { value }]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return [key, text.length <= VALUE_CHARS_MAX ? value : `${text.slice(0, VALUE_CHARS_MAX).toWellFormed()}... (cut)`];
  });
}

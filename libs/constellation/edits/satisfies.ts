import { type AgentProfile, meantName, PROFILE_KEYS, type ResourceFloor, type Selector, type Target } from '#proto';
import { judgeWhere, keysOfWhere, type WhereMiss } from '../plan/index.js';
import { cardMemoryMb, numberOf, profileEntries, profileTree } from '../profile/index.js';

/** Why a device does not satisfy a target as it is now: of `where`, what it misses; otherwise the field and what the device has. */
export type Unsatisfied =
  | { readonly field: 'device' | 'os' | 'capabilities' | 'tags'; readonly words: string }
  | { readonly field: 'resources'; readonly words: string }
  | { readonly field: 'where'; readonly miss: WhereMiss };

/** Whether a device may take what has this target. The one place where that is decided, for everybody who asks. */
export function satisfies(device: AgentProfile, target: Target): boolean {
  return unsatisfied(device, target) === undefined;
}

/** The first field of a target that a device does not satisfy; undefined when it satisfies all of it. */
export function unsatisfied(device: AgentProfile, target: Target): Unsatisfied | undefined {
  if ('device' in target) {
    return device.deviceId === target.device ? undefined : { field: 'device', words: `is not ${target.device}` };
  }
  return lastingly(device, target) ?? freeDisk(device, target.resources) ?? byWhere(device, target);
}

/**
 * Whether a device may come to satisfy a target without being enrolled anew. One that never connected has told nothing yet: only its
 * tags, which the administrator gave, can rule it out. What `where` asks for is given, and taken away, while tasks wait; so is room on a disk.
 */
export function couldSatisfy(device: AgentProfile, target: Target): boolean {
  if ('device' in target) return satisfies(device, target);
  if (device.session === null) return (target.tags ?? []).every((tag) => device.tags.includes(tag));
  return lastingly(device, target) === undefined;
}

function lastingly(
  device: AgentProfile,
  { os, capabilities = [], tags = [], resources }: Selector,
): Unsatisfied | undefined {
  if (os !== undefined && device.os !== os) return { field: 'os', words: `has the system ${device.os}` };
  const capability = capabilities.find((one) => !device.capabilities.includes(one));
  if (capability !== undefined) return { field: 'capabilities', words: `has no capability ${capability}` };
  const tag = tags.find((one) => !device.tags.includes(one));
  if (tag !== undefined) return { field: 'tags', words: `has no tag ${tag}` };
  return resources === undefined ? undefined : ofMachine(device, resources);
}

function ofMachine(device: AgentProfile, floor: ResourceFloor): Unsatisfied | undefined {
  const { cpuCount = 0, memoryMb = 0, gpuCount = 0, gpuMemoryMb = 0 } = floor;
  return (
    below(cpuCount, numberOf(device, 'cpu.count'), 'processors') ??
    below(memoryMb, given(device, 'memory.gb') ?? device.resources.memoryMb, 'MiB of memory') ??
    below(gpuCount, numberOf(device, 'gpu.count'), 'graphics cards') ??
    below(gpuMemoryMb, given(device, 'gpu.memory_gb') ?? cardMemoryMb(device), 'MiB on a graphics card')
  );
}

function freeDisk(device: AgentProfile, { diskFreeMb = 0 }: ResourceFloor = {}): Unsatisfied | undefined {
  return below(diskFreeMb, given(device, 'disk.free_gb') ?? device.metrics?.diskFreeMb, 'MiB free on its disk');
}

/** What the administrator says in GiB counts exactly; what the device says is known in MiB. */
function given(device: AgentProfile, key: string): number | undefined {
  const value = device.given?.[key]?.value;
  return typeof value === 'number' ? value * 1024 : undefined;
}

/** Without a floor nothing has to be known. */
function below(floor: number, has: number | undefined, of: string): Unsatisfied | undefined {
  if (floor === 0 || (has ?? 0) >= floor) return undefined;
  const words = has === undefined ? `does not say how many ${of} it has` : `has ${counted(has, of)}`;
  return { field: 'resources', words };
}

const counted = (count: number, of: string): string => `${count} ${count === 1 ? of.replace(/s$/u, '') : of}`;

function byWhere(device: AgentProfile, { where }: Selector): Unsatisfied | undefined {
  if (where === undefined) return undefined;
  const answer = judged(device, where);
  return answer === null ? undefined : { field: 'where', miss: answer };
}

/** A selector is asked of the same profile for every task that has it. */
const answers = new WeakMap<AgentProfile, Map<string, WhereMiss | null>>();
const ANSWERS_MAX = 64;

function judged(device: AgentProfile, where: string): WhereMiss | null {
  const known = answers.get(device) ?? new Map<string, WhereMiss | null>();
  if (known.size === 0) answers.set(device, known);
  const before = known.get(where);
  if (before !== undefined) return before;
  const answer = judgeWhere(where, profileTree(device));
  const miss = answer.holds ? null : answer;
  if (known.size >= ANSWERS_MAX) known.clear();
  known.set(where, miss);
  return miss;
}

/** `lacks profile.gpu.memory_gb`, of one device. */
export function unsatisfiedText(why: Unsatisfied): string {
  if (why.field !== 'where') return why.words;
  const { miss } = why;
  if (miss.kind === 'lacks') return `lacks profile.${miss.key}`;
  return miss.kind === 'differs'
    ? `has profile.${miss.key} ${miss.words}`
    : miss.words.replace(/^do not /u, 'does not ');
}

/** `3 lack profile.gpu.memory_gb, 2 below 24`: why `where` fits none of many devices, the most frequent reason first. */
export function missesText(misses: readonly WhereMiss[]): string {
  const counts = new Map<string, number>();
  for (const miss of misses) {
    const words = miss.kind === 'lacks' ? `lack profile.${miss.key}` : miss.words;
    counts.set(words, (counts.get(words) ?? 0) + 1);
  }
  const ordered = [...counts].toSorted(([one, count], [other, more]) => more - count || (one < other ? -1 : 1));
  const shown = ordered.slice(0, REASONS_MAX).map(([words, count]) => `${count} ${words}`);
  return [
    ...shown,
    ...(ordered.length > REASONS_MAX ? [`and ${ordered.length - REASONS_MAX} other reasons`] : []),
  ].join(', ');
}

const REASONS_MAX = 5;
const DEVICES_MAX = 3;
const KEYS_MAX = 8;

/** Names in a `where` that no device has and that mean nothing by themselves, with the one that may be meant; undefined when there are none. */
export function unknownKeys(where: string, devices: readonly AgentProfile[]): string | undefined {
  const owners = new Map<string, string[]>();
  for (const device of devices) {
    for (const { key } of profileEntries(device)) owners.set(key, [...(owners.get(key) ?? []), device.deviceId]);
  }
  const known = [...new Set([...owners.keys(), ...FIXED_KEYS])];
  const unknown = keysOfWhere(where).find((key) => !isKnown(key, known));
  if (unknown === undefined) return undefined;
  const meant = meantName(unknown, known);
  const ownersText = (key: string): string => {
    const ids = owners.get(key)?.toSorted() ?? [];
    if (ids.length === 0) return 'no device has it yet';
    return ids.length > DEVICES_MAX ? `${ids.length} devices` : ids.join(', ');
  };
  const hint = meant === undefined ? '' : `; did you mean profile.${meant} (${ownersText(meant)})?`;
  const keys = [...owners.keys()].toSorted();
  const shown = keys.slice(0, KEYS_MAX).map((key) => `${key} (${ownersText(key)})`);
  const more = keys.length > KEYS_MAX ? ` and ${keys.length - KEYS_MAX} more` : '';
  const valid = keys.length === 0 ? 'nothing is known of any device yet' : `known are ${shown.join(', ')}${more}`;
  return `asks for profile.${unknown}, which no device has${hint}${hint === '' ? ';' : ''} ${valid}`;
}

/** Names that are the same everywhere, also while no device has them. */
const FIXED_KEYS = Object.keys(PROFILE_KEYS).filter((key) => !key.endsWith('*'));

/** Also what is in a value of JSON, and a group of names. */
function isKnown(key: string, known: readonly string[]): boolean {
  return known.some((one) => one === key || key.startsWith(`${one}.`) || one.startsWith(`${key}.`));
}

import { fieldsOf, type AgentProfile, type Json } from '#proto';
import { givenValues, isRevoked } from '#libs/constellation';
import { clipped, fenceTokens, jsonLine, linesWithin, type Telling } from './bounded.js';

export interface ProfilesOptions extends Telling {
  /** Of all that is told, fences included, at most. */
  readonly tokens: number;
  /** Devices that it names are told first. */
  readonly goal: string;
}

/** More devices are told in groups, besides those that the goal names and as many others as there is room for. */
const SINGLE_MAX = 60;
const TOOLS_SHARE = 0.3;
const NAMED_SHARE = 0.35;
const GROUPS_SHARE = 0.2;
const TAGS_SHARE = 0.1;
const GIVEN_SHARE = 0.15;
const OVERHEAD_TOKENS = 120;

/**
 * The fleet as a plan can be made for it: every device where there are few; of many the ones that the goal names, groups with
 * their counts, all tags and capabilities, and some more by name. Then the tools. What is left out says so. A revoked device is none.
 */
export function profilesText(profiles: readonly AgentProfile[], options: ProfilesOptions): string {
  const devices = profiles.filter((profile) => !isRevoked(profile)).toSorted(byId);
  if (devices.length === 0) return '[No device is enrolled]';
  const { fence, countTokens, tokens, goal } = options;
  const fences = fenceTokens('devices', options) + fenceTokens('tools of the devices', options);
  let left = tokens - OVERHEAD_TOKENS - fences;
  const within = (lines: readonly string[], most: number): readonly string[] => {
    const taken = linesWithin(lines, Math.min(most, left), countTokens);
    left -= taken.tokens;
    return taken.lines;
  };

  const tools = toolLines(devices);
  const shownTools = within(tools.lines, tokens * TOOLS_SHARE);
  const words = wordsOf(goal);
  const given = givenLines(devices, words);
  const shownGiven = within(given, tokens * GIVEN_SHARE);
  const named = devices.filter((device) => isNamed(device, words));
  const others = devices.filter((device) => !isNamed(device, words));
  const shownNamed = within(
    named.slice(0, WRITTEN_MAX).map((device) => deviceLine(device, true)),
    tokens * NAMED_SHARE,
  );
  const isLarge = devices.length > SINGLE_MAX;
  const shownTags = isLarge ? within(tagLines(devices), tokens * TAGS_SHARE) : [];
  const groups = isLarge ? groupLines(devices) : NO_LINES;
  const shownGroups = within(groups.lines, tokens * GROUPS_SHARE);
  // Connected ones first: a plan is mostly made for those.
  const ordered = [...others.filter(isReady), ...others.filter((device) => !isReady(device))];
  const shownOthers = within(
    ordered.slice(0, WRITTEN_MAX).map((device) => deviceLine(device, false)),
    left,
  );
  const shown = shownNamed.length + shownOthers.length;
  const omitted = [
    devices.length > shown ? `${devices.length - shown} devices are not named here` : '',
    groups.count > shownGroups.length ? `${groups.count - shownGroups.length} smaller groups are not shown` : '',
    given.length > shownGiven.length
      ? `${given.length - shownGiven.length} devices of which their administrators say more are not shown`
      : '',
    tools.count > shownTools.length ? `${tools.count - shownTools.length} tools are not shown` : '',
  ].filter((text) => text !== '');
  return [
    headline(devices),
    ...(omitted.length === 0 ? [] : [`[${omitted.join('; ')}]`]),
    fence.around('devices', [...shownNamed, ...shownTags, ...shownGroups, ...shownOthers].join('\n')),
    fence.around('tools of the devices', shownTools.join('\n')),
    // A person's words, each on one line of JSON in which nothing is hidden: they need no fence.
    ...(shownGiven.length === 0 ? [] : [GIVEN_HEADLINE, ...shownGiven]),
  ].join('\n');
}

const GIVEN_HEADLINE =
  '[What their administrators say of devices; it counts where a device says something else of itself. In `where` a name is profile.<name>]';
const KEYS_MAX = 24;

/** Of each device of which its administrator has said something by name; those that the goal names first. */
function givenLines(devices: readonly AgentProfile[], words: ReadonlySet<string>): string[] {
  const having = devices.filter(({ given = {} }) => Object.keys(given).length > 0);
  const ordered = [
    ...having.filter((device) => isNamed(device, words)),
    ...having.filter((device) => !isNamed(device, words)),
  ];
  return ordered.slice(0, WRITTEN_MAX).map((device) => {
    const values = givenValues(device);
    const profile = Object.fromEntries(values.slice(0, KEYS_MAX));
    const more = values.length > KEYS_MAX ? { names_left_out: values.length - KEYS_MAX } : {};
    return JSON.stringify({ device: device.deviceId, profile, ...more });
  });
}

/** No more lines of a kind are written than could ever be shown. */
const WRITTEN_MAX = 200;

/** The first lines of a kind, and how many there would be. */
interface Written {
  readonly lines: readonly string[];
  readonly count: number;
}

const NO_LINES: Written = { lines: [], count: 0 };

const byId = (one: AgentProfile, other: AgentProfile): number =>
  one.deviceId < other.deviceId ? -1 : one.deviceId > other.deviceId ? 1 : 0;

const isReady = ({ status, held }: AgentProfile): boolean => status === 'connected' && held === null;

function headline(devices: readonly AgentProfile[]): string {
  const connected = devices.filter(({ status }) => status === 'connected').length;
  const held = devices.filter((device) => device.held !== null).length;
  const onHold = held === 0 ? '' : `, ${held} held by an operator: nothing new starts on those`;
  return `[${devices.length} devices are enrolled, ${connected} are connected${onHold}. One line of JSON each]`;
}

/** Ids and host names as they may stand in a sentence. */
function wordsOf(goal: string): ReadonlySet<string> {
  const words = goal.toLowerCase().match(/[\p{L}\p{N}_][\p{L}\p{N}_.-]*/gu) ?? [];
  return new Set(words.flatMap((word) => [word, word.replace(/[.-]+$/u, '')]));
}

function isNamed({ deviceId, hostname }: AgentProfile, words: ReadonlySet<string>): boolean {
  return words.has(deviceId.toLowerCase()) || (hostname !== '' && words.has(hostname.toLowerCase()));
}

function deviceLine(device: AgentProfile, isNamed: boolean): string {
  const { deviceId, hostname, status, held, agent, os, arch, capabilities, tags, resources, metrics } = device;
  const { load1, memoryFreeMb, diskFreeMb, gpus = [] } = metrics ?? {};
  return jsonLine({
    device: deviceId,
    hostname: hostname === deviceId ? '' : clipped(hostname, 80),
    status: status === 'connected' ? '' : status,
    held: held !== null,
    agent: clipped(agent, 40),
    os: clipped(os, 40),
    arch: isNamed ? clipped(arch, 20) : '',
    capabilities: shortList(capabilities),
    tags: shortList(tags),
    cpus: resources.cpuCount === 0 ? undefined : resources.cpuCount,
    memory_mb: resources.memoryMb === 0 ? undefined : resources.memoryMb,
    ...(isNamed ? { load: load1, memory_free_mb: memoryFreeMb, disk_free_mb: diskFreeMb } : {}),
    gpus: gpus.slice(0, 4).map(({ name, memoryMb }) => `${clipped(name, 40)} ${memoryMb} MB`),
  });
}

function shortList(values: readonly string[]): string[] {
  const sorted = [...values].toSorted();
  return sorted.length > LIST_MAX ? [...sorted.slice(0, LIST_MAX), `(${sorted.length - LIST_MAX} more)`] : sorted;
}

const LIST_MAX = 16;

/** Devices that a selector cannot tell apart but by resources, the largest group first. */
function groupLines(devices: readonly AgentProfile[]): Written {
  const groups = new Map<string, AgentProfile[]>();
  for (const device of devices) {
    const { os, agent, capabilities, tags } = device;
    const key = JSON.stringify([os, agent, capabilities.toSorted(), tags.toSorted()]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [device]);
    else group.push(device);
  }
  const ordered = [...groups.values()].toSorted((one, other) => other.length - one.length);
  const lines = ordered.slice(0, WRITTEN_MAX).flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const ready = group.filter(isReady);
    return jsonLine({
      group: { os: clipped(first.os, 40), capabilities: shortList(first.capabilities), tags: shortList(first.tags) },
      agent: clipped(first.agent, 40),
      devices: group.length,
      ready: ready.length,
      for_example: (ready.length > 0 ? ready : group).slice(0, 3).map(({ deviceId }) => deviceId),
    });
  });
  return { lines, count: ordered.length };
}

/** What a selector may ask for in this fleet, the most frequent first. */
function tagLines(devices: readonly AgentProfile[]): string[] {
  const line = (name: 'tags' | 'capabilities'): string => {
    const counts = new Map<string, number>();
    for (const device of devices) for (const value of device[name]) counts.set(value, (counts.get(value) ?? 0) + 1);
    const ordered = [...counts].toSorted(([one, count], [other, more]) => more - count || (one < other ? -1 : 1));
    return jsonLine({ [`devices_by_${name}`]: Object.fromEntries(ordered.slice(0, TAGS_MAX)) });
  };
  return [line('tags'), line('capabilities')].filter((text) => text !== '{}');
}

const TAGS_MAX = 25;

/** Every tool once, as most devices describe it. */
function toolLines(devices: readonly AgentProfile[]): Written {
  const variants = new Map<string, { tool: AgentProfile['tools'][number]; devices: number }>();
  for (const { tools } of devices) {
    for (const tool of tools) {
      const key = `${tool.name}\n${tool.description}\n${Object.keys(propertiesOf(tool.inputSchema)).join()}`;
      const known = variants.get(key);
      if (known === undefined) variants.set(key, { tool, devices: 1 });
      else known.devices += 1;
    }
  }
  const ordered = [...variants.values()].toSorted((one, other) => other.devices - one.devices);
  const names = new Set<string>();
  const first = ordered.filter(({ tool: { name } }) => !names.has(name) && names.add(name) !== undefined);
  const lines = first.slice(0, WRITTEN_MAX).map(({ tool, devices: count }) =>
    jsonLine({
      tool: tool.name,
      devices: count,
      about: clipped(tool.description, 200),
      read_only: tool.readOnly,
      arguments: argumentsOf(tool.inputSchema),
    }),
  );
  return { lines, count: first.length };
}

const propertiesOf = (schema: AgentProfile['tools'][number]['inputSchema']): Readonly<Record<string, Json>> =>
  fieldsOf(schema?.['properties']);

function argumentsOf(schema: AgentProfile['tools'][number]['inputSchema']): Json {
  const required = Array.isArray(schema?.['required']) ? schema['required'] : [];
  const named = Object.entries(propertiesOf(schema)).slice(0, 12);
  const described = named.map(([name, value]) => {
    const { type, enum: values, description } = fieldsOf(value);
    const kind = Array.isArray(values) ? `one of ${clipped(JSON.stringify(values.slice(0, 12)), 120)}` : typeOf(type);
    const about = typeof description === 'string' ? `: ${clipped(description, 80)}` : '';
    return [clipped(name, 60), `${kind}${required.includes(name) ? ', required' : ''}${about}`] as const;
  });
  return Object.fromEntries(described);
}

const typeOf = (type: Json | undefined): string => (typeof type === 'string' ? clipped(type, 20) : 'any');

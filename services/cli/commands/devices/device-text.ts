// Devices in words. Whatever a device or somebody else has said goes through cleanLine, here or in the table.
import { counted, deviceWallText, isBehind, profileEntries, type ProfileEntry } from '#libs/constellation';
import type { QueryAnswer } from '#libs/messaging';
import {
  type AdminProfile,
  type AgentProfile,
  type ClientTelemetry,
  type Json,
  type MeasuredMetrics,
  type ServiceManifest,
  type ToolInfo,
} from '#proto';
import {
  cleanLine,
  clipToWidth,
  durationText,
  saidBy,
  paintStatus,
  type Paint,
  momentText,
} from '../../terminal/index.js';

const DESCRIPTION_SHOWN_MAX = 100;
const LABEL_WIDTH = 15;
/** What a client says of itself and its wall stands in the profile. */
const APART_FIELDS = ['client', 'wall', 'wallViews', 'wallUser', 'gpus', 'diskMb'];

/** A device that is revoked is nobody's, whatever its connection was last. */
export function statusText({ status, revoked }: AgentProfile): string {
  return revoked === null || revoked === undefined ? status : 'REVOKED';
}

/** Processes that want to run, of processors. */
export function loadText({ metrics, resources }: AgentProfile): string {
  if (metrics === null || metrics === undefined) return '-';
  return `${metrics.load1.toFixed(2)}/${resources.cpuCount || '?'}`;
}

/** How long ago it was there; `-`: it never was. */
export function seenText({ status, lastSeenAt }: AgentProfile, now: number): string {
  if (status === 'connected') return 'now';
  return lastSeenAt === undefined ? '-' : agoText(now - Date.parse(lastSeenAt));
}

/** In the largest unit alone: for one cell. */
export function agoText(ms: number): string {
  const [count, unit] = [
    [Math.floor(ms / 86_400_000), 'd'] as const,
    [Math.floor(ms / 3_600_000), 'h'] as const,
    [Math.floor(ms / 60_000), 'min'] as const,
  ].find(([of]) => of > 0) ?? [Math.max(0, Math.floor(ms / 1_000)), 's'];
  return `${count} ${unit} ago`;
}

/** A task that a device works on. */
export type DeviceWork = QueryAnswer<'logging', 'at-work'>['tasks'][number];

/** The newest, and how many others there are. */
export function tasksText(work: readonly DeviceWork[] | undefined): string {
  const [newest, ...others] = work ?? [];
  if (newest === undefined) return '-';
  return `${newest.name || newest.taskId}${others.length === 0 ? '' : ` +${others.length}`}`;
}

/** Its release, with a star when that is not the offered one. */
export function clientText(profile: AgentProfile, offered: string | undefined): string {
  const { client = '-' } = profile;
  return offered !== undefined && isBehind(profile, offered) ? `*${client}` : client;
}

/** What makes the wall around its judged commands, in a word; `-`: its client does not say. */
export const wallWord = ({ wall }: AgentProfile): string => wall?.kind ?? '-';

/** The three sources of a profile; the first ones win. */
export interface ProfileSources {
  readonly admin: AdminProfile;
  readonly manifest: ServiceManifest;
  /** Null before the first connection. */
  readonly telemetry: ClientTelemetry | null;
}

/** Lines for people. `now`: ms since the epoch. */
export function deviceLines(
  profile: AgentProfile,
  sources: ProfileSources,
  { now, paint }: { readonly now: number; readonly paint: Paint },
): string[] {
  const { deviceId, held, revoked, contendedAt, agent, os, arch, hostname, resources, tasksMax } = profile;
  const status = statusText(profile);
  return [
    `${paint('bold', deviceId)}  ${paintStatus(paint, status)}`,
    ...(revoked === null || revoked === undefined
      ? []
      : [line('revoked', `by ${saidBy(revoked)}, ${momentText(revoked.revokedAt)}`)]),
    ...(held === null ? [] : [line('held', `by ${saidBy(held)}, ${momentText(held.heldAt)}`)]),
    line('credential', credentialText(profile)),
    ...(contendedAt === undefined
      ? []
      : [line('contended', `several clients use its credential, last seen ${momentText(contendedAt)}`)]),
    line('session', sessionText(profile)),
    line('client', profile.client ?? 'unknown: it does not say'),
    line('agent', `${agent}, up to ${counted(tasksMax, 'task')} at once`),
    line('machine', [os, arch, hostname].filter((part) => part !== '').join(' ')),
    line('resources', `${counted(resources.cpuCount, 'processor')}, ${resources.memoryMb} MB`),
    line('capabilities', list(profile.capabilities)),
    line('tags', list(profile.tags)),
    line('wall', deviceWallText(profile)),
    ...metricsLines(profile, now),
    ...entryLines(profile),
    ...sourceLines(sources),
    ...toolLines(profile.tools, sources.telemetry?.tools ?? []),
  ];
}

function credentialText({ credential, revoked }: AgentProfile): string {
  if (revoked !== null && revoked !== undefined) return 'none: revoked';
  if (credential === 'key') return 'a key of its own';
  return credential === 'token' ? 'a static token' : 'none: it has not joined yet';
}

function sessionText({ session, enrolledAt }: AgentProfile): string {
  if (session === null) return `none since it was enrolled, ${momentText(enrolledAt)}`;
  const { gateway, connectedAt, journalId } = session;
  return `${gateway}, connected ${momentText(connectedAt)}, ${journalId === null ? 'without a journal' : `journal ${journalId}`}`;
}

function metricsLines({ metrics, resources }: AgentProfile, now: number): string[] {
  if (metrics === null || metrics === undefined) return [line('metrics', 'none')];
  return [line('metrics', metricsText(metrics, resources.cpuCount, now)), ...metrics.gpus.map(gpuLine)];
}

function metricsText({ load1, memoryFreeMb, diskFreeMb, at }: MeasuredMetrics, cpuCount: number, now: number): string {
  const load = `load ${load1.toFixed(2)} on ${counted(cpuCount, 'processor')}`;
  return `${load}, ${memoryFreeMb} MB memory free, ${diskFreeMb} MB disk free; ${durationText(now - Date.parse(at))} ago`;
}

function gpuLine({ name, memoryMb, memoryFreeMb, utilisation }: MeasuredMetrics['gpus'][number]): string {
  return line('', `${name}: ${memoryFreeMb} of ${memoryMb} MB free, ${Math.round(utilisation * 100)} % used`);
}

const VALUE_CHARS_MAX = 60;

/** What counts under each name, who says so and when, and what does not count for that. */
function entryLines(profile: AgentProfile): string[] {
  const entries = profileEntries(profile);
  if (entries.length === 0) return [];
  const width = Math.max(...entries.map(({ key }) => key.length));
  const revision = profile.givenRevision === undefined ? '' : ` (revision ${profile.givenRevision})`;
  return [`  profile${revision}`, ...entries.map((entry) => `    ${entryText(entry, width)}`)];
}

function entryText({ key, value, source, by, at, instead }: ProfileEntry, width: number): string {
  const who = by === undefined ? source : `${source} ${by.id}`;
  const when = at === null ? '' : `, ${momentText(at)}`;
  const others = instead.map((one) => `${one.source} says ${valueText(one.value)}`);
  const hidden = others.length === 0 ? '' : `; ${others.join(', ')}`;
  return `${cleanLine(key).padEnd(width)}  ${cleanLine(valueText(value))}  [${cleanLine(`${who}${when}${hidden}`)}]`;
}

/** A text as it is, anything else as JSON. */
export function valueText(value: Json): string {
  return clipToWidth(typeof value === 'string' ? value : JSON.stringify(value), VALUE_CHARS_MAX);
}

function sourceLines({ admin, manifest, telemetry }: ProfileSources): string[] {
  return [
    'from the administrator, who wins',
    line('', sourceText([tagsOf(admin), capabilitiesOf(admin), tasksOf(admin), ['system', admin.os]])),
    'from the manifest of its kind',
    line('', sourceText([['agent', manifest.agent], capabilitiesOf(manifest), tasksOf(manifest)])),
    'from the device itself',
    line('', telemetry === null ? 'nothing yet' : telemetryText(telemetry)),
  ];
}

type Said = readonly [name: string, value: string | undefined];

const tagsOf = ({ tags }: AdminProfile): Said => ['tags', tags.join(' ')];
const capabilitiesOf = ({ capabilities }: { capabilities: readonly string[] }): Said => [
  'capabilities',
  capabilities.join(' '),
];
const tasksOf = ({ tasksMax }: { tasksMax?: number | undefined }): Said => [
  'tasks',
  tasksMax === undefined ? undefined : `up to ${tasksMax}`,
];

function telemetryText(telemetry: ClientTelemetry): string {
  const { platform, osVersion, hostname, arch, cpuCount, memoryMb, metadata } = telemetry;
  return sourceText([
    ['system', `${platform} ${osVersion}`.trim()],
    ['host', hostname],
    ['machine', `${arch} ${counted(cpuCount, 'processor')} ${memoryMb} MB`.trim()],
    capabilitiesOf(telemetry),
    [
      'more',
      Object.keys(metadata)
        .filter((name) => !APART_FIELDS.includes(name))
        .join(' '),
    ],
  ]);
}

function sourceText(said: readonly Said[]): string {
  const given = said.filter(([, value]) => value !== undefined && value !== '');
  return given.map(([name, value]) => `${name}: ${value}`).join('; ') || 'nothing';
}

/** Lists come without descriptions; what the device said has them. */
function toolLines(tools: readonly ToolInfo[], told: readonly ToolInfo[]): string[] {
  if (tools.length === 0) return ['no tools'];
  const width = Math.max(...tools.map(({ name }) => name.length));
  return [
    counted(tools.length, 'tool'),
    ...tools.map(({ name, readOnly }) => {
      const description = told.find((tool) => tool.name === name)?.description ?? '';
      const words = [readOnly ? '(only reads)' : '', description].filter((word) => word !== '').join(' ');
      return `  ${`${name.padEnd(width)}  ${clipToWidth(cleanLine(words), DESCRIPTION_SHOWN_MAX)}`.trimEnd()}`;
    }),
  ];
}

function line(label: string, value: string): string {
  return `  ${label.padEnd(LABEL_WIDTH)}${cleanLine(value)}`;
}

function list(words: readonly string[]): string {
  return words.join(' ') || '-';
}

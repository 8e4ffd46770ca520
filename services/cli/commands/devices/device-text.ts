// Devices in words. Whatever a device or somebody else has said goes through cleanLine, here or in the table.
import { counted } from '#libs/constellation';
import type { AdminProfile, AgentProfile, ClientTelemetry, MeasuredMetrics, ServiceManifest, ToolInfo } from '#proto';
import { cleanLine, clipToWidth, durationText, saidBy, paintStatus, type Paint } from '../../terminal/index.js';

const DESCRIPTION_SHOWN_MAX = 100;
const LABEL_WIDTH = 15;

/** A device that is revoked is nobody's, whatever its connection was last. */
export function statusText({ status, revoked }: AgentProfile): string {
  return revoked === null || revoked === undefined ? status : 'REVOKED';
}

/** Processes that want to run, of processors. */
export function loadText({ metrics, resources }: AgentProfile): string {
  if (metrics === null || metrics === undefined) return '-';
  return `${metrics.load1.toFixed(2)}/${resources.cpuCount || '?'}`;
}

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
      : [line('revoked', `by ${saidBy(revoked)}, ${revoked.revokedAt}`)]),
    ...(held === null ? [] : [line('held', `by ${saidBy(held)}, ${held.heldAt}`)]),
    line('credential', credentialText(profile)),
    ...(contendedAt === undefined
      ? []
      : [line('contended', `several clients use its credential, last seen ${contendedAt}`)]),
    line('session', sessionText(profile)),
    line('agent', `${agent}, up to ${counted(tasksMax, 'task')} at once`),
    line('machine', [os, arch, hostname].filter((part) => part !== '').join(' ')),
    line('resources', `${counted(resources.cpuCount, 'processor')}, ${resources.memoryMb} MB`),
    line('capabilities', list(profile.capabilities)),
    line('tags', list(profile.tags)),
    ...metricsLines(profile, now),
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
  if (session === null) return `none since it was enrolled, ${enrolledAt}`;
  const { gateway, connectedAt, journalId } = session;
  return `${gateway}, connected ${connectedAt}, ${journalId === null ? 'without a journal' : `journal ${journalId}`}`;
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
    ['wall around judged commands', typeof metadata['wall'] === 'string' ? metadata['wall'].slice(0, 64) : undefined],
    [
      'more',
      Object.keys(metadata)
        .filter((name) => name !== 'wall')
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

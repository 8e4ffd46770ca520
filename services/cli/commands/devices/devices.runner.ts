import type { NatsConnection } from '@nats-io/transport-node';
import { query } from '#libs/messaging';
import { isBehind, profileEntries } from '#libs/constellation';
import { HAS_WORKSPACES, TAKES_STDIN_FILES, type AgentProfile } from '#proto';
import { withBus } from '../../bus/index.js';
import { shownAgain } from '../../live/index.js';
import { releaseOffered } from './offer.client.js';
import {
  clientText,
  loadText,
  seenText,
  statusText,
  tasksText,
  valueText,
  wallWord,
  type DeviceWork,
} from './device-text.js';
import { type ExitCode, saidBy, type CliContext, tellTable } from '../../terminal/index.js';

/** As a person gave them or asks for them; what only programs look for is in `devices show`. */
const capabilitiesText = ({ capabilities }: AgentProfile): string =>
  capabilities.filter((name) => name !== TAKES_STDIN_FILES && name !== HAS_WORKSPACES).join(' ') || '-';

const metadataText = ({ metadata = {} }: AgentProfile): string =>
  Object.entries(metadata)
    .map(([key, value]) => `${key}=${value}`)
    .join(' ') || '-';

/** Cards and the memory of the largest, as they count. */
function gpuText(profile: AgentProfile): string {
  const said = new Map(profileEntries(profile).map(({ key, value }) => [key, value]));
  const [count, memory] = [said.get('gpu.count'), said.get('gpu.memory_gb')];
  if (memory === undefined) return count === undefined ? '-' : valueText(count);
  return `${count === undefined ? '' : `${valueText(count)} x `}${valueText(memory)} GB`;
}

/** What the administrator has said by name. */
const givenText = ({ given = {} }: AgentProfile): string =>
  Object.entries(given)
    .map(([key, { value }]) => `${key}=${valueText(value)}`)
    .join(' ') || '-';

export interface ListOptions {
  readonly watch?: boolean;
  /** All columns, whatever the terminal has room for. */
  readonly output?: 'wide';
}

export function listDevices(context: CliContext, { watch = false, output }: ListOptions): Promise<ExitCode> {
  return shownAgain(context, watch, (again) => showDevices(again, output === 'wide'));
}

async function showDevices(context: CliContext, isWide: boolean): Promise<ExitCode> {
  const [{ devices }, work, offered] = await withBus(context, (nc) =>
    Promise.all([query(nc, 'registry', 'devices', {}), workOn(nc), releaseOffered(context)]),
  );
  const now = context.now();
  const code = tellTable(context, {
    json: { offered: offered ?? null, devices: devices.map((profile) => inJson(profile, work, offered)) },
    rows: devices,
    nothing: 'No device is enrolled yet; see: orrery devices enroll --help',
    isWide,
    columns: [
      { title: 'DEVICE', value: ({ deviceId }) => deviceId },
      { title: 'STATUS', value: statusText, status: true },
      { title: 'SEEN', value: (profile) => seenText(profile, now) },
      { title: 'TASK', value: ({ deviceId }) => tasksText(work?.get(deviceId)) },
      { title: 'CLIENT', value: (profile) => clientText(profile, offered) },
      { title: 'WALL', value: wallWord },
      { title: 'HELD', value: ({ held }) => (held === null ? '-' : `by ${saidBy(held)}`) },
      { title: 'TAGS', value: ({ tags }) => tags.join(' ') || '-', spare: true },
      { title: 'LOAD', value: loadText, spare: true },
      { title: 'OS', value: ({ os }) => os || '-', spare: true },
      { title: 'HOST', value: ({ hostname }) => hostname || '-', spare: true },
      { title: 'CAPABILITIES', value: capabilitiesText, spare: true },
      { title: 'GPU', value: gpuText, spare: true },
      { title: 'PROFILE', value: givenText, spare: true },
      { title: 'METADATA', value: metadataText, spare: true },
    ],
  });
  if (!context.json) sayDrift(context, devices, offered);
  return code;
}

function sayDrift({ terminal }: CliContext, devices: readonly AgentProfile[], offered: string | undefined): void {
  if (offered === undefined || !terminal.isTerminal || !devices.some((profile) => isBehind(profile, offered))) return;
  terminal.err(`* another client than this system offers (${offered}). There: orrery-device upgrade`);
}

function inJson(profile: AgentProfile, work: WorkByDevice, offered: string | undefined) {
  const { deviceId: id } = profile;
  const behind = offered === undefined ? {} : { clientIsOffered: !isBehind(profile, offered) };
  return { id, ...profile, ...behind, ...(work !== undefined && { working: work.get(id) ?? [] }) };
}

type WorkByDevice = ReadonlyMap<string, readonly DeviceWork[]> | undefined;

/** Undefined: the service that knows does not say. Who is there can be listed all the same. */
async function workOn(nc: NatsConnection): Promise<WorkByDevice> {
  const told = await query(nc, 'logging', 'at-work', {}).catch(() => undefined);
  return told && Map.groupBy(told.tasks, ({ deviceId }) => deviceId);
}

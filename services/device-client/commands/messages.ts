import {
  AIP_REVISION,
  HAS_WORKSPACES,
  TAKES_STDIN_FILES,
  type ActionResult,
  type ClientMessage,
  type ClientTelemetry,
  type CommandId,
  type CommandMessage,
  type CommandOutcome,
  type DeviceMetrics,
  type DeviceWall,
  type Json,
  type ServerMessage,
  type ToolInfo,
} from '#proto';
import type { ToolOutput } from '#libs/mcp';
import type { Hardware, Machine } from '../machine/index.js';

/** What a server needs to find the command that an answer belongs to; a redelivered result has only its id. */
export interface AnsweredCommand {
  readonly prev_response_id?: string | null | undefined;
  readonly session_id?: string | null | undefined;
  readonly call_id?: string | null | undefined;
}

/** Every field that AIP's own servers read, null when it is not used. */
const base = (now: number) =>
  ({
    status: 'ok',
    client_type: 'device',
    client_id: null,
    timestamp: new Date(now).toISOString(),
    request_id: null,
  }) as const;

/** A foreign server compares the name, and finds an answer again by an id of ours. */
export interface AnsweringClient {
  readonly clientId: string | null;
  readonly requestId: string;
  readonly now: number;
}
const signed = ({ clientId, requestId, now }: AnsweringClient) =>
  ({ ...base(now), client_id: clientId, request_id: requestId }) as const;

export function resultMessage(
  id: CommandId,
  outcome: CommandOutcome,
  reply: AnsweredCommand,
  now: number,
): ClientMessage {
  const { prev_response_id = null, session_id = null, call_id = null } = reply;
  // The result travels once, in `orrery`: a server that sent a command id reads it there.
  const status = outcome.state === 'COMPLETED' ? 'success' : 'failure';
  return {
    type: 'command_results',
    ...base(now),
    prev_response_id,
    session_id,
    action_results: [{ status, error: outcome.error?.message ?? null, result: null, namespace: null, call_id }],
    orrery: { command_id: id, outcome },
  };
}

export function foreignResultMessage(
  command: CommandMessage,
  results: ActionResult[],
  sender: AnsweringClient,
): ClientMessage {
  return {
    type: 'command_results',
    ...signed(sender),
    status: command.status,
    prev_response_id: command.response_id ?? null,
    session_id: command.session_id ?? null,
    action_results: results,
  };
}

/** A server of UFO asks its device to ask it for a task; the id of the session is made anew by the server. */
export function taskMessage(
  { user_request: request, task_name: name }: Extract<ServerMessage, { type: 'task' }>,
  platform: string,
  sender: AnsweringClient,
): ClientMessage {
  return {
    type: 'task',
    ...signed(sender),
    status: 'continue',
    session_id: null,
    request: request ?? '',
    task_name: name ?? null,
    metadata: { platform },
  };
}

export function progressMessage(id: CommandId, state: 'queued' | 'running', now: number): ClientMessage {
  return { type: 'command_progress', ...base(now), orrery: { command_id: id, state } };
}

export function outputMessage(id: CommandId, { stream, offset, text }: ToolOutput, now: number): ClientMessage {
  return { type: 'command_output', ...base(now), orrery: { command_id: id, stream, offset, text } };
}

/** `metrics`: for servers that know what they are. */
export function heartbeatMessage(clientId: string | null, metrics: DeviceMetrics | null, now: number): ClientMessage {
  const orrery = metrics === null ? {} : { orrery: { metrics } };
  return { type: 'heartbeat', ...base(now), client_id: clientId, ...orrery };
}

/** What is said of this device, as of now. */
export interface DeviceFacts {
  /** Only foreign servers need a name: ours take it from the credential. */
  readonly clientId: string | null;
  /** What a server is to take the device for: servers of UFO choose their agents by it. */
  readonly platform: string;
  readonly machine: Machine;
  readonly tools: ToolInfo[];
  readonly metrics: DeviceMetrics;
  readonly wall: DeviceWall;
  readonly hardware: Hardware;
  /** Of the client. */
  readonly release: string;
  readonly now: number;
}

const CAPABILITIES = ['cli', 'file_system'];
/** To who speaks our revisions, beside what every server understands. */
const OWN_CAPABILITIES = [...CAPABILITIES, TAKES_STDIN_FILES, HAS_WORKSPACES];

export function registerMessage(device: DeviceFacts & { readonly journalId: string }): ClientMessage {
  const { clientId, journalId, platform, machine, now } = device;
  return {
    type: 'register',
    ...base(now),
    client_id: clientId,
    metadata: {
      platform,
      system_info: systemInfo(clientId, machine),
      orrery: { revision: AIP_REVISION, journal_id: journalId, telemetry: telemetryOf(device), binary_pieces: true },
    },
  };
}

/** The asking service finds it by the id of the question. */
export function deviceInfoMessage(
  { request_id, response_id }: Extract<ServerMessage, { type: 'device_info_request' }>,
  device: DeviceFacts,
): ClientMessage {
  const { clientId, machine, metrics, now } = device;
  return {
    type: 'device_info_response',
    ...base(now),
    client_id: clientId,
    request_id: request_id ?? response_id ?? null,
    result: systemInfo(clientId, machine),
    orrery: { telemetry: telemetryOf(device), metrics },
  };
}

/** The machine in the words of UFO's own devices. */
function systemInfo(clientId: string | null, machine: Machine): Record<string, Json> {
  const { platform, osVersion, hostname, cpuCount, memoryMb, address } = machine;
  return {
    device_id: clientId ?? hostname,
    platform,
    os_version: osVersion,
    cpu_count: cpuCount,
    memory_total_gb: Math.round((memoryMb / 1024) * 100) / 100,
    hostname,
    ip_address: address,
    supported_features: CAPABILITIES,
    platform_type: 'computer',
    schema_version: '1.0',
    custom_metadata: {},
  };
}

function telemetryOf({ machine, tools, wall, release, hardware }: DeviceFacts): ClientTelemetry {
  const { address: _, ...facts } = machine;
  const { kind, views, runsAs } = wall;
  const metadata = {
    client: release,
    wall: kind,
    wallViews: views,
    gpus: hardware.gpus.map(({ driver, ...gpu }) => ({ ...gpu, ...(driver !== undefined && { driver }) })),
    ...(hardware.diskMb > 0 && { diskMb: hardware.diskMb }),
    ...(runsAs !== undefined && { wallUser: runsAs }),
  };
  return { ...facts, capabilities: OWN_CAPABILITIES, tools, metadata };
}

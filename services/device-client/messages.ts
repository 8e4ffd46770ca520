import {
  AIP_REVISION,
  type ActionResult,
  type ClientMessage,
  type CommandId,
  type CommandMessage,
  type CommandOutcome,
  type ToolInfo,
} from '#proto';
import type { Machine } from './machine.adapter.js';

/** What a server needs to find the command that an answer belongs to; a redelivered result has only its id. */
export interface Reply {
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

export function resultMessage(id: CommandId, outcome: CommandOutcome, reply: Reply, now: number): ClientMessage {
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

export function foreignResultMessage(command: CommandMessage, results: ActionResult[], now: number): ClientMessage {
  return {
    type: 'command_results',
    ...base(now),
    status: command.status,
    prev_response_id: command.response_id ?? null,
    session_id: command.session_id ?? null,
    action_results: results,
  };
}

export function progressMessage(id: CommandId, state: 'queued' | 'running', now: number): ClientMessage {
  return { type: 'command_progress', ...base(now), orrery: { command_id: id, state } };
}

export const heartbeatMessage = (clientId: string | null, now: number): ClientMessage => ({
  type: 'heartbeat',
  ...base(now),
  client_id: clientId,
});

export interface Registration {
  /** Only foreign servers need a name: ours take it from the token. */
  readonly clientId: string | null;
  readonly journalId: string;
  readonly machine: Machine;
  readonly tools: ToolInfo[];
}

const CAPABILITIES = ['cli', 'file_system'];

export function registerMessage({ clientId, journalId, machine, tools }: Registration, now: number): ClientMessage {
  const { platform, osVersion, hostname, arch, cpuCount, memoryMb, address } = machine;
  return {
    type: 'register',
    ...base(now),
    client_id: clientId,
    metadata: {
      platform,
      system_info: {
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
      },
      orrery: {
        revision: AIP_REVISION,
        journal_id: journalId,
        telemetry: {
          platform,
          osVersion,
          hostname,
          arch,
          cpuCount,
          memoryMb,
          capabilities: CAPABILITIES,
          tools,
          metadata: {},
        },
      },
    },
  };
}

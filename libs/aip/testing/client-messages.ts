import fc from 'fast-check';
import type { ClientMessage, ClientTelemetry, CommandOutcome, DeviceMetrics } from '#proto';

/* Messages of clients as a test may draw them: of the right shape, with or without sense. */

export const TELEMETRY: ClientTelemetry = {
  platform: 'linux',
  osVersion: '',
  hostname: '',
  arch: '',
  cpuCount: 0,
  memoryMb: 0,
  capabilities: [],
  tools: [],
  metadata: {},
};
export const METRICS: DeviceMetrics = { load1: 0.5, memoryFreeMb: 1, diskFreeMb: 1, gpus: [] };
export const DONE: CommandOutcome = { state: 'COMPLETED', result: 1, error: null, startedAt: null, durationMs: 1 };
const SHA = 'a'.repeat(64);

type Draft = ClientMessage extends infer M
  ? M extends ClientMessage
    ? Omit<M, 'status' | 'client_type' | 'client_id' | 'seq' | 'ack'>
    : never
  : never;

const id = fc.constantFrom('r.a.1.0.0', 'r.b.1.0.0', 'made-up', 'list_tools');
const transfer_id = fc.constantFrom('t1', 't2');

/** Every type of message, by its name. */
const DRAFTS: { readonly [T in ClientMessage['type']]: fc.Arbitrary<Draft & { type: T }> } = {
  register: fc.constantFrom(null, 1, 2, 9).map((revision) => ({
    type: 'register',
    metadata: revision === null ? null : { orrery: { revision, journal_id: 'j1', telemetry: TELEMETRY } },
  })),
  heartbeat: fc.constantFrom(null, { metrics: METRICS }).map((orrery) => ({ type: 'heartbeat', orrery })),
  task: fc.constantFrom('s1', null).map((session_id) => ({ type: 'task', session_id, request: 'x' })),
  command_results: fc.tuple(id, fc.boolean()).map(([command_id, ours]) => ({
    type: 'command_results',
    prev_response_id: command_id,
    action_results: [{ status: 'success', result: [] }],
    orrery: ours ? { command_id, outcome: DONE } : null,
  })),
  task_end: fc.constant({ type: 'task_end' }),
  device_info_request: fc.constant({ type: 'device_info_request', target_id: 'web-2' }),
  device_info_response: fc.constant({
    type: 'device_info_response',
    orrery: { telemetry: TELEMETRY, metrics: METRICS },
  }),
  error: fc.constant({ type: 'error', error: 'x' }),
  command_progress: id.map((command_id) => ({ type: 'command_progress', orrery: { command_id, state: 'running' } })),
  command_output: fc.tuple(id, fc.constantFrom('x', 'x'.repeat(20_000))).map(([command_id, text]) => ({
    type: 'command_output',
    orrery: { command_id, stream: 'stdout', offset: 0, text },
  })),
  resume: fc.tuple(fc.array(id, { maxLength: 3 }), fc.boolean()).map(([running, more]) => ({
    type: 'resume',
    orrery: { running, finished: [], more },
  })),
  ack: fc.constant({ type: 'ack' }),
  credential: fc.constant({ type: 'credential', orrery: { credential: 'x.y.z' } }),
  file_begin: id.map((command_id) => ({
    type: 'file_begin',
    orrery: { transfer_id: 't1', command_id, sha256: SHA, bytes: 1 },
  })),
  file_chunk: transfer_id.map((transfer) => ({
    type: 'file_chunk',
    orrery: { transfer_id: transfer, offset: 0, data: 'eA==' },
  })),
  file_end: transfer_id.map((transfer) => ({ type: 'file_end', orrery: { transfer_id: transfer } })),
  file_request: id.map((command_id) => ({
    type: 'file_request',
    orrery: { transfer_id: 't2', command_id, sha256: SHA },
  })),
  file_ack: transfer_id.map((transfer) => ({ type: 'file_ack', orrery: { transfer_id: transfer, bytes: 1 } })),
  file_abort: transfer_id.map((transfer) => ({
    type: 'file_abort',
    orrery: { transfer_id: transfer, code: 'X', message: 'x' },
  })),
  run_forgotten: fc.constant({ type: 'run_forgotten', orrery: { run_id: 'r1' } }),
  workspaces: fc.constant({ type: 'workspaces', orrery: { request_id: 'w1', workspaces: [], more: 0 } }),
};

/** A message of any type, now and then in the name of somebody else. */
export const anyMessage: fc.Arbitrary<ClientMessage> = fc
  .tuple(
    fc.oneof(...Object.values(DRAFTS)),
    fc.oneof({ weight: 9, arbitrary: fc.constant('device' as const) }, fc.constant('constellation' as const)),
    fc.oneof({ weight: 9, arbitrary: fc.constantFrom('web-1', null) }, fc.constant('web-2')),
  )
  .map(([draft, client_type, client_id]): ClientMessage => ({ ...draft, status: 'ok', client_type, client_id }));

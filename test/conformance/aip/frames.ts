/* Frames as they are sent: plain objects, because a check may want a wrong one. */

export type Fields = Readonly<Record<string, unknown>>;

/** Every optional field as null, as clients send that serialise a whole model. */
export const NULLS: Fields = {
  session_id: null,
  task_name: null,
  target_id: null,
  request: null,
  action_results: null,
  timestamp: null,
  request_id: null,
  prev_response_id: null,
  error: null,
  metadata: null,
};

/** REGISTER of a device of another system, as recorded (01). */
export const registerOf = (deviceId: string): Fields => ({
  type: 'register',
  status: 'ok',
  client_type: 'device',
  client_id: deviceId,
  timestamp: '2026-11-20T15:40:40.489395+00:00',
  metadata: {
    system_info: {
      device_id: deviceId,
      platform: 'linux',
      os_version: '#1 SMP PREEMPT_DYNAMIC',
      cpu_count: 2,
      memory_total_gb: 23.54,
      hostname: 'vm',
      ip_address: '192.0.2.2',
      supported_features: ['gui', 'cli', 'browser', 'file_system', 'office', 'linux_apps'],
      platform_type: 'computer',
      schema_version: '1.0',
      custom_metadata: {},
    },
    registration_time: '2026-11-20T15:40:40.489395+00:00',
    platform: 'linux',
  },
});

/** REGISTER of a device that speaks a revision of ours. */
export const revisedRegisterOf = (deviceId: string, revision: number, journalId = `journal-${deviceId}`): Fields => ({
  type: 'register',
  status: 'ok',
  client_type: 'device',
  client_id: deviceId,
  metadata: {
    platform: 'linux',
    orrery: {
      revision,
      journal_id: journalId,
      telemetry: { platform: 'linux', capabilities: ['cli'], tools: [{ name: 'EXEC_CLI' }, { name: 'SYS_INFO' }] },
    },
  },
});

/** REGISTER of a constellation client, as recorded (14). */
export const constellationRegisterOf = (clientId: string, targetId: string | null): Fields => ({
  type: 'register',
  status: 'ok',
  client_type: 'constellation',
  client_id: clientId,
  ...(targetId !== null && { target_id: targetId }),
  timestamp: '2026-11-20T15:40:40.489395+00:00',
  metadata: {
    type: 'constellation_client',
    task_name: 'interop',
    targeted_device_id: targetId,
    capabilities: ['task_distribution', 'session_management', 'device_coordination'],
    version: '2.0',
  },
});

/** The fields of our revision in a frame; none when it has none. */
export const orreryOf = (frame: Fields | undefined): Fields => {
  const orrery = frame?.['orrery'];
  return typeof orrery === 'object' && orrery !== null ? (orrery as Fields) : {};
};

export const HEARTBEAT: Fields = { type: 'heartbeat', status: 'ok' };

/** What a foreign device answers to the meta tool `list_tools`. */
export const TOOL_LIST: readonly Fields[] = [
  {
    tool_key: 'action::execute_command',
    tool_name: 'execute_command',
    title: null,
    namespace: 'BashExecutor',
    tool_type: 'action',
    description: 'Runs a command.',
    input_schema: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] },
    output_schema: null,
    meta: null,
    annotations: null,
  },
];

/** An action's result as foreign devices report it. */
export const success = (result: unknown, callId: unknown = null): Fields => ({
  status: 'success',
  error: null,
  result,
  namespace: 'BashExecutor',
  call_id: callId,
});

/** What a foreign tool answers for a command that ran. */
export const RAN: Fields = { success: true, exit_code: 0, stdout: 'ok\n', stderr: '' };

/** An outcome as devices of a revision of ours report it. */
export const outcomeWith = (result: unknown, state = 'COMPLETED'): Fields => ({
  state,
  result,
  error: null,
  startedAt: null,
  durationMs: 1,
});

/** COMMAND_RESULTS in the dialect of a revision of ours. */
export const outcomeFrame = (commandId: string, outcome: Fields = outcomeWith(RAN)): Fields => ({
  type: 'command_results',
  status: 'continue',
  prev_response_id: commandId,
  action_results: [success(outcome['result'], commandId)],
  orrery: { command_id: commandId, outcome },
});

/** COMMAND_RESULTS of a foreign device for everything in a COMMAND. */
export function resultsFor(command: Fields, resultOf: (action: Fields) => Fields): Fields {
  const actions = Array.isArray(command['actions']) ? (command['actions'] as Fields[]) : [];
  return {
    type: 'command_results',
    status: command['status'],
    session_id: command['session_id'] ?? null,
    prev_response_id: command['response_id'],
    request_id: `results-of-${String(command['response_id'])}`,
    action_results: actions.map(resultOf),
  };
}

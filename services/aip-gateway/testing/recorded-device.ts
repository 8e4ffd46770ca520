import { commandIdOf, subjects } from '#proto';
import type { AttemptKey, CommandId, DeviceAnswer, RunCommandRequest, SessionId } from '#proto';
import type { TestBench } from './test-bench.adapter.js';
import { exchangesOf, type Exchange, type TraceLine } from './trace.js';
import { TraceSocket } from './trace-socket.js';

/* UFO's own device client as it was recorded, at a gateway of ours. */

export const DEVICE = 'linux_agent_1';
/** Of its tool server; the recorded agent had to know it, here only the gateway does. */
export const KEY = 'mcp-key';
export const INJECTED = { [DEVICE]: { execute_command: { api_key: KEY }, get_system_info: { api_key: KEY } } };

const LIST_TOOLS = 'list_tools';
/** It answers at once: who waits longer asks a gateway that is gone and not known to be. */
const ANSWER_MS = 20_000;
const NEVER_TOO_LATE = '2099-01-01T00:00:00.000Z';

/** Registers as this connection did, and answers what it answered; where its tools were not asked for, as `c1` did. */
export async function dialRecorded(url: string, trace: readonly TraceLine[], conn: string): Promise<TraceSocket> {
  const register = trace.find((line) => line.conn === conn);
  if (register === undefined || !('frame' in register.what)) throw new Error(`${conn} does not register`);
  const own = exchangesOf(trace, conn);
  const exchanges = own.some(({ tool }) => tool === LIST_TOOLS) ? own : exchangesOf(trace, 'c1');
  const socket = await TraceSocket.dial(`${url}?token=token-${DEVICE}`, { exchanges });
  socket.send(register.what.frame);
  await socket.take(({ type, status }) => type === 'heartbeat' && status === 'ok', 'the confirmation');
  return socket;
}

/** What the recorded connection was asked for, its tools aside. */
export const commandsOf = (trace: readonly TraceLine[], conn: string): Exchange[] =>
  exchangesOf(trace, conn).filter(({ tool }) => tool !== LIST_TOOLS);

/** Asks for the recorded command; the session has still to be named. */
export function recordedRequest({ tool, parameters }: Exchange, attempt: AttemptKey): RunCommandRequest {
  const { api_key: _key, ...args } = parameters;
  return {
    kind: 'run',
    commandId: commandIdOf(attempt),
    attempt,
    deviceId: DEVICE,
    sessionId: '',
    journalId: null,
    command: { tool, arguments: args },
    priority: 0,
    notAfter: NEVER_TOO_LATE,
  };
}

/** What the gateway that held a session says of a command of it. */
export async function wasSent(bench: TestBench, commandId: CommandId, sessionId: SessionId): Promise<DeviceAnswer> {
  const inquiry = { kind: 'sent', commandId, deviceId: DEVICE, sessionId, notAfter: NEVER_TOO_LATE };
  const subject = subjects.deviceSession(DEVICE, sessionId);
  const answer = await bench.caller.request(subject, JSON.stringify(inquiry), { timeout: ANSWER_MS });
  return answer.json();
}

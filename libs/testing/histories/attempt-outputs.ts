import {
  commandIdOf,
  subjects,
  type AttemptCommit,
  type AttemptEvent,
  type CommandFinished,
  type RunView,
  type TaskResult,
  type TaskView,
} from '#proto';

const AT = '2026-11-20T12:00:00.000Z';

/** A commit of an attempt, not sealed: what reads outputs does not judge who wrote them. */
export function attemptCommit(
  { runId, taskId, attempt = 1 }: { readonly runId: string; readonly taskId: string; readonly attempt?: number },
  events: readonly AttemptEvent[],
  number = 1,
): { readonly subject: string; readonly commit: AttemptCommit } {
  const key = { runId, taskId, attempt };
  const by = { service: 'device-agent', instance: 'i1' };
  const hashes = { prevHash: '0'.repeat(64), hash: '0'.repeat(64) };
  const recorded = events.map((event, index) => ({
    id: `${taskId}.${attempt}.${number}.${index}`,
    sequence: number * 100 + index,
    schemaVersion: 1,
    ...event,
  }));
  const head = { commit: `01K${String(number).padStart(23, '0')}`, number, at: AT, by, causes: [] };
  const commit = { ...head, ...key, events: recorded, ...hashes } as AttemptCommit;
  return { subject: subjects.attempt(key, number === 1 ? 'end' : 'step'), commit };
}

/** A command of EXEC_CLI that has ended. */
export function finishedCommand(
  of: { readonly runId: string; readonly taskId: string; readonly attempt?: number; readonly step?: number },
  result: TaskResult | null,
  change: Partial<CommandFinished> = {},
): AttemptEvent {
  const { runId, taskId, attempt = 1, step = 0 } = of;
  const data: CommandFinished = {
    commandId: commandIdOf({ runId, taskId, attempt }, step),
    deviceId: 'web-1',
    sessionId: 's1',
    command: { tool: 'EXEC_CLI', arguments: { command: 'df -h' } },
    state: 'COMPLETED',
    result,
    error: null,
    startedAt: AT,
    durationMs: 12,
    ...change,
  };
  return { type: 'COMMAND_FINISHED', data };
}

/** What EXEC_CLI answers. */
export function printed(stdout: string, stderr = '', exitCode = 0): TaskResult {
  return {
    value: {
      stdout,
      stderr,
      exit_code: exitCode,
      command: 'df -h',
      execution_time: 0.1,
      timestamp: AT,
      status: 'SUCCESS',
    },
  };
}

export function taskView(id: string, change: Partial<TaskView> = {}): TaskView {
  return {
    id,
    name: id,
    status: 'COMPLETED',
    attempts: 1,
    device: 'web-1',
    result: null,
    error: null,
    reason: null,
    held: false,
    recoveredBy: null,
    startedAt: AT,
    endedAt: AT,
    ...change,
  };
}

/** A run with these tasks, as far as outputs are asked for. */
export function runView(runId: string, tasks: readonly TaskView[]): RunView {
  return { runId, tasks: [...tasks] } as Partial<RunView> as RunView;
}

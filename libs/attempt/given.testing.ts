import { GENESIS_HASH, type CommandCall, type Json, type RunCommit } from '#proto';
import type { TaskStart } from './attempt.js';

export const RUN_ID = 'run1';
export const STARTED_AT = '2026-11-20T10:00:00.000Z';
export const NOW = Date.parse(STARTED_AT) + 100;

/** The start of one exact command. */
export function startOf(
  taskId: string,
  attempt = 1,
  command: CommandCall = { tool: 'EXEC_CLI', arguments: {} },
): TaskStart & { command: CommandCall } {
  return {
    taskId,
    attempt,
    deviceId: 'web-1',
    sessionId: 'session-1',
    journalId: 'journal-1',
    command,
    inputs: [],
    priority: 0,
    startedAt: STARTED_AT,
    timeoutAt: '2026-11-20T10:10:00.000Z',
  };
}

/** A commit of a run that starts these tasks; its id ends with its number. */
export function commitOf(number: number, ...starts: readonly TaskStart[]): RunCommit {
  return {
    commit: `01HZZZZZZZZZZZZZZZZZZZZ00${number}`,
    number,
    at: STARTED_AT,
    by: { service: 'orchestrator', instance: 'test' },
    causes: [],
    runId: RUN_ID,
    events: starts.map((data, index) => ({
      id: `${number}.${index}`,
      sequence: index + 1,
      schemaVersion: 1,
      type: 'TASK_STARTED',
      data,
    })),
    prevHash: GENESIS_HASH,
    hash: GENESIS_HASH,
  };
}

/** What EXEC_CLI answers. */
export function execCli(stdout: string, exitCode = 0): Json {
  return {
    stdout,
    stderr: '',
    exit_code: exitCode,
    command: 'true',
    execution_time: 0.25,
    timestamp: STARTED_AT,
    status: exitCode === 0 ? 'SUCCESS' : 'ERROR',
  };
}

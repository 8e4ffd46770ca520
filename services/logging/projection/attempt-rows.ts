import { attemptOfSubject, type AttemptCommit, type RunCommit } from '#proto';
import { commandsOf } from '#libs/constellation';
import type { AttemptRow, CommandRow } from '../entities/index.js';

type Key = Pick<AttemptRow, 'runId' | 'taskId' | 'attempt'>;
export type AttemptStart = Key & Pick<AttemptRow, 'device' | 'session' | 'startedAt'>;
export type AttemptEnd = Key & Pick<AttemptRow, 'status' | 'hash' | 'endedAt'>;

/** The attempts that a run's commit starts. */
export function startsOf({ runId, events }: RunCommit): AttemptStart[] {
  return events.flatMap((event) => {
    if (event.type !== 'TASK_STARTED') return [];
    const { taskId, attempt, deviceId, sessionId, startedAt } = event.data;
    return [{ runId, taskId, attempt, device: deviceId, session: sessionId, startedAt }];
  });
}

/** The end of an attempt, with the hash by which the run names it; undefined when this commit does not end it (a late result does not). */
export function endOf(
  subject: string,
  { runId, taskId, attempt, events, hash, at }: AttemptCommit,
): AttemptEnd | undefined {
  if (attemptOfSubject(subject)?.kind !== 'end') return undefined;
  const end = events.find((event) => event.type === 'ATTEMPT_FINISHED');
  return end === undefined ? undefined : { runId, taskId, attempt, status: end.data.status, hash, endedAt: at };
}

export function commandRowsOf(commit: AttemptCommit, streamSequence: number): CommandRow[] {
  return commandsOf([commit]).map((command) => ({ ...command, runId: commit.runId, streamSequence }));
}

/** One row per key, the last one: a statement may touch a row only once. Sorted, so that two writers lock rows in the same order. */
export function lastByKey<T extends Key>(rows: readonly T[]): T[] {
  const byKey = new Map(rows.map((row) => [keyOf(row), row]));
  return [...byKey].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, row]) => row);
}

function keyOf({ runId, taskId, attempt }: Key): string {
  return `${runId} ${taskId} ${String(attempt).padStart(5, '0')}`;
}

import type { AttemptCommit, RunCommit } from '#proto';

/** One stored message and the positions, in the same list, of those it followed from. */
export interface Append {
  readonly key: string;
  readonly bytes: number;
  readonly after: readonly number[];
}

/** What the dataflow needs of a commit of a run. */
export type RunEntry = Pick<RunCommit, 'runId' | 'number' | 'causes' | 'events'> & { readonly bytes: number };
export type AttemptEntry = Pick<AttemptCommit, 'runId' | 'taskId' | 'attempt' | 'number'> & { readonly bytes: number };

/**
 * Which append had to wait for which: a commit of a run for the one before it and for the attempts that caused it, a commit
 * of an attempt for the one before it, the first one for the commit that started it.
 */
export function dataflowOf(runs: readonly RunEntry[], attempts: readonly AttemptEntry[]): Append[] {
  const runPosition = new Map<string, number>();
  const startedIn = new Map<string, number>();
  const attemptPosition = new Map<string, number>();
  const attemptEnd = new Map<string, number>();
  for (const [position, { runId, number, events }] of runs.entries()) {
    runPosition.set(`${runId} ${number}`, position);
    for (const event of events) {
      if (event.type === 'TASK_STARTED') startedIn.set(`${runId} ${event.data.taskId}.${event.data.attempt}`, position);
    }
  }
  for (const [index, { runId, taskId, attempt, number }] of attempts.entries()) {
    const key = `${runId} ${taskId}.${attempt}`;
    attemptPosition.set(`${key} ${number}`, runs.length + index);
    attemptEnd.set(key, runs.length + index); // in the order of the stream: the last one stays
  }
  const known = (positions: readonly (number | undefined)[]): number[] =>
    positions.filter((position) => position !== undefined);
  return [
    ...runs.map(({ runId, number, causes, bytes }) => {
      const ends = causes.map(({ kind, id }) =>
        kind === 'attempt' ? attemptEnd.get(`${runId} ${id.split('.').slice(0, -1).join('.')}`) : undefined,
      );
      return { key: `run.${runId}`, bytes, after: known([runPosition.get(`${runId} ${number - 1}`), ...ends]) };
    }),
    ...attempts.map(({ runId, taskId, attempt, number, bytes }) => {
      const key = `${runId} ${taskId}.${attempt}`;
      const before = number === 1 ? startedIn.get(key) : attemptPosition.get(`${key} ${number - 1}`);
      return { key: `attempt.${runId}.${taskId}.${attempt}`, bytes, after: known([before]) };
    }),
  ];
}

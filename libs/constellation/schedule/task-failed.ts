import { instantOf, type RunEvent, type TaskError } from '#proto';
import type { RunDraft } from '../fold/index.js';
import { judgeLines } from '../state/index.js';

/** The end of a task that fails without a word of an attempt: nothing ran, or nobody will hear of what did. */
export function taskFailed(
  { run, judge }: Pick<RunDraft, 'run' | 'judge'>,
  index: number,
  error: TaskError,
  now: number,
): RunEvent {
  const { star, attempt } = run.tasks.at(index);
  const lines = judgeLines(run, index, { status: 'FAILED', result: error.output ?? null }, judge);
  return {
    type: 'TASK_FAILED',
    data: { taskId: star.id, attempt, error, lines, failedAt: instantOf(now), attemptHash: null },
  };
}

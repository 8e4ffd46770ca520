import type { StopReason, TaskError } from '#proto';
import type { RunDraft } from './evolve.js';
import { type FleetView, isRepeatable } from './fleet-view.js';
import { judgeLines } from './lines.js';
import type { Run, TaskState } from './run.js';

export interface Circumstances {
  readonly fleet: FleetView;
  /** Milliseconds since the epoch, server time. */
  readonly now: number;
}

/**
 * Ends the running attempt of a task that did not succeed: cancelled when the run is to end, failed otherwise, and reopened
 * in the same commit when the task's retry policy allows another try and repeating it is safe.
 */
export function failAttempt(
  draft: RunDraft,
  index: number,
  { error, attemptHash }: { error: TaskError; attemptHash: string | null },
  circumstances: Circumstances,
): void {
  const { run } = draft;
  const task = run.tasks.at(index);
  const { id: taskId } = task.star;
  const stopped: StopReason | undefined = task.stopping?.reason;
  const at = instantOf(circumstances.now);
  if (stopped !== undefined && stopped !== 'timeout') {
    const lines = judgeLines(run, index, { status: 'CANCELLED', result: null });
    draft.add({
      type: 'TASK_CANCELLED',
      data: { taskId, attempt: task.attempt, reason: stopped, lines, cancelledAt: at },
    });
    return;
  }
  const known = stopped === 'timeout' ? timedOut(error) : error;
  if (mayRetry(run, task, known, circumstances)) {
    const backoffMs = (task.star.retry?.backoffMs ?? 0) * 2 ** (task.attempt - 1);
    const notBefore = instantOf(circumstances.now + backoffMs);
    draft.add(
      {
        type: 'TASK_FAILED',
        data: { taskId, attempt: task.attempt, error: known, lines: [], failedAt: at, attemptHash },
      },
      { type: 'TASK_REOPENED', data: { taskId, attempt: task.attempt, reason: 'retry_policy', notBefore } },
    );
    return;
  }
  const lines = judgeLines(run, index, { status: 'FAILED', result: known.output?.value ?? null });
  draft.add({
    type: 'TASK_FAILED',
    data: { taskId, attempt: task.attempt, error: known, lines, failedAt: at, attemptHash },
  });
}

/** What a device reports of an attempt that we stopped for its timeout is a timeout, unless nobody knows what happened. */
function timedOut(error: TaskError): TaskError {
  if (error.outcome !== 'cancelled') return error;
  return { ...error, code: 'TIMEOUT', message: 'did not end within its timeout and was stopped', outcome: 'timed_out' };
}

function mayRetry(run: Run, task: TaskState, { outcome }: TaskError, { fleet, now }: Circumstances): boolean {
  if (task.attempt >= (task.star.retry?.attempts ?? 1)) return false;
  if (run.ending !== null || run.phase === 'PAUSED' || deadlinePassed(run, now)) return false;
  const outcomeKnown = outcome === 'failed' || outcome === 'timed_out';
  return outcomeKnown || isRepeatable(task.star, fleet, task.deviceId);
}

export function deadlinePassed(run: Run, now: number): boolean {
  return run.request !== null && now >= Date.parse(run.request.deadlineAt);
}

/** RFC 3339 in UTC with milliseconds; pure, `now` is given. */
export function instantOf(now: number): string {
  return new Date(now).toISOString();
}

import { instantOf, LIMITS, type RunEvent } from '#proto';
import type { RunDraft } from '../fold/index.js';
import { type Circumstances, deadlinePassed, taskFailed } from '../schedule/index.js';
import { hasPlan } from '../state/index.js';
import { failAttempt } from './attempt-end.js';
import { abandonEdit } from './edit-rounds.js';
import { beginToEnd, endAsItIs } from './ending.js';

/** The run's deadline cancels what is pending and stops what is running; where every task has ended, nothing was late. */
export function enforceRunDeadline(draft: RunDraft, { now }: Circumstances): void {
  if (draft.run.ending !== null || !deadlinePassed(draft.run, now)) return;
  abandonEdit(draft, { code: 'RUN_ENDING', message: 'the deadline of the run passed' }, now);
  const { run } = draft;
  if (hasPlan(run) && run.counts.PENDING + run.counts.RUNNING === 0) endAsItIs(draft, now);
  else beginToEnd(draft, { reason: 'run_deadline', by: null, note: null }, now);
}

/** A task's own deadline covers all its tries: what waits fails, what runs is stopped. */
export function enforceTaskDeadlines(draft: RunDraft, circumstances: Circumstances): void {
  const { now } = circumstances;
  if (draft.run.timed.size === 0) return;
  const at = instantOf(now); // RFC 3339 in UTC with milliseconds compares as text
  for (const index of Array.from(draft.run.timed)) {
    const { run } = draft;
    const { star, status, attempt, deadlineAt, stopping, fanOut } = run.tasks.at(index);
    if (deadlineAt === null || at < deadlineAt) continue;
    if (status === 'RUNNING' && stopping === null) draft.add(stop(star.id, attempt, 'task_deadline', now));
    // Of one that has begun on several devices these have the same deadline; it ends with the last of them.
    if (status !== 'PENDING' || fanOut !== null) continue;
    const error = { code: 'DEADLINE', message: 'did not end before its deadline', outcome: 'timed_out' } as const;
    draft.add(taskFailed(draft, index, error, now));
  }
}

/** Stops what has run for as long as it may; of what was stopped and does not answer nobody knows the outcome. */
export function enforceTimeouts(draft: RunDraft, circumstances: Circumstances): void {
  if (draft.run.running.size === 0) return;
  const { now } = circumstances;
  const at = instantOf(now);
  for (const index of Array.from(draft.run.running)) {
    const { star, attempt, stopping, timeoutAt } = draft.run.tasks.at(index);
    if (stopping !== null && at >= stopping.graceUntil) {
      const message = 'the attempt was stopped and its end was never reported; nobody knows what it has done';
      const error = { code: 'OUTCOME_UNKNOWN', message, outcome: 'unknown' } as const;
      failAttempt(draft, index, { error, attemptHash: null }, circumstances);
    } else if (stopping === null && timeoutAt !== null && at >= timeoutAt) {
      draft.add(stop(star.id, attempt, 'timeout', now));
    }
  }
}

function stop(taskId: string, attempt: number, reason: 'timeout' | 'task_deadline', now: number): RunEvent {
  const graceUntil = instantOf(now + LIMITS.stopGraceMs);
  return { type: 'TASK_STOP_REQUESTED', data: { taskId, attempt, reason, requestedAt: instantOf(now), graceUntil } };
}

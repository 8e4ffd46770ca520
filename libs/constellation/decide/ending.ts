import { instantOf, LIMITS, type RunEvent } from '#proto';
import { cancelAttempt } from './attempt-end.js';
import type { Circumstances } from '../schedule/index.js';
import { abandonEdit, opensEndOfPlan } from './edit-rounds.js';
import { fittingAnswer } from './end-size.js';
import type { RunDraft } from '../fold/index.js';
import { answerAtEnd } from './final-answer.js';
import { runOutcomeOf } from './outcome.js';
import { asksPlanner, endsTheRun, isTerminal, type Run, type RunEnding, type TaskState } from '../state/index.js';

/**
 * Begins the end of a run before its plan has ended: what is pending is cancelled, what runs is stopped, and the run ends
 * when the last of it has. With nothing pending and nothing running it ends at once.
 */
export function beginToEnd(draft: RunDraft, ending: RunEnding, now: number): void {
  const { reason, by } = ending;
  for (let index = 0; index < draft.run.tasks.length; index++) {
    // Said once: thousands of tasks that each say it would not fit into one commit.
    const note = draft.run.ending === null ? ending.note : null;
    const { star, status, attempt, stopping } = draft.run.tasks.at(index);
    if (status === 'PENDING') cancelAttempt(draft, index, { reason, by, note }, now);
    else if (status === 'RUNNING' && !endsAlready(stopping)) {
      const requestedAt = instantOf(now);
      const graceUntil = stopping?.graceUntil ?? instantOf(now + LIMITS.stopGraceMs);
      const who = { ...(by === null ? {} : { by }), ...(note === null ? {} : { note }) };
      draft.add({
        type: 'TASK_STOP_REQUESTED',
        data: { taskId: star.id, attempt, reason, ...who, requestedAt, graceUntil },
      });
    }
  }
  const { PENDING, RUNNING } = draft.run.counts;
  if (PENDING + RUNNING === 0) draft.add(endOf(draft, ending, now));
}

function endsAlready(stopping: TaskState['stopping']): boolean {
  return stopping !== null && endsTheRun(stopping.reason);
}

/** A run with nothing pending, nothing running and nothing to ask the planner is over. */
export function end(draft: RunDraft, circumstances: Circumstances): void {
  const { run } = draft;
  if (isTerminal(run) || run.counts.PENDING > 0 || run.counts.RUNNING > 0) return;
  if (run.ending === null) {
    const isAsked = run.editing !== null || (run.queued.length > 0 && asksPlanner(run));
    if (!run.plannerSilent && isAsked) return;
    if (opensEndOfPlan(draft, circumstances)) return;
    abandonEdit(draft, { code: 'RUN_ENDING', message: 'the run ended without it' }, circumstances.now);
  }
  draft.add(endOf(draft, run.ending, circumstances.now));
}

/** Ends a run whose tasks have all ended by what they came to, whatever the planner might still have said. */
export function endAsItIs(draft: RunDraft, now: number): void {
  draft.add(endOf(draft, null, now));
}

/** An end always fits into its commit, whatever else is in it. */
function endOf(draft: RunDraft, ending: RunEnding | null, now: number): RunEvent {
  const end = bareEnd(draft.run, ending, now);
  const answer = end.type === 'RUN_CANCELLED' ? undefined : answerAtEnd(draft.run);
  const fitting = answer === undefined ? undefined : fittingAnswer(answer, [...draft.events, end]);
  if (end.type === 'RUN_CANCELLED' || fitting === undefined) return end;
  if (end.type === 'RUN_COMPLETED') return { type: end.type, data: { ...end.data, answer: fitting } };
  return { type: end.type, data: { ...end.data, answer: fitting } };
}

type End = Extract<RunEvent, { type: 'RUN_COMPLETED' | 'RUN_FAILED' | 'RUN_CANCELLED' }>;

function bareEnd(run: Run, ending: RunEnding | null, now: number): End {
  const { COMPLETED: completed, FAILED: failed, SKIPPED: skipped, CANCELLED: cancelled } = run.counts;
  const counts = { completed, failed, skipped, cancelled };
  const at = instantOf(now);
  const end = runOutcomeOf(run, ending);
  switch (end.kind) {
    case 'completed':
      return { type: 'RUN_COMPLETED', data: { outcome: end.outcome, counts, completedAt: at } };
    case 'failed':
      return { type: 'RUN_FAILED', data: { reason: end.reason, counts, failedAt: at } };
    case 'cancelled': {
      const by = ending?.by ?? { kind: 'system', id: 'orchestrator' };
      return { type: 'RUN_CANCELLED', data: { by, reason: ending?.note ?? 'cancelled', counts, cancelledAt: at } };
    }
  }
}

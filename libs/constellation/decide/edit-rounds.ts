import { instantOf, DEFAULTS, type EditTrigger, type RunEventData } from '#proto';
import { asksPlanner, budgetOfRound, editPolicyOf, hasPlan, hasWords, lockPolicyOf, type Run } from '../state/index.js';
import type { Circumstances } from '../schedule/index.js';
import type { RunDraft } from '../fold/index.js';

/** Opens a round for all that has been queued meanwhile: one batch, one question (paper, algorithm 1 and section 6.5). */
export function openEdit(draft: RunDraft, { now }: Circumstances): void {
  const { run } = draft;
  if (run.queued.length === 0 || run.editing !== null || !takesRounds(run) || run.ending !== null) return;
  // A planner that does not answer is not asked about a plan that has ended: the run ends without it.
  if (run.plannerSilent && run.counts.PENDING + run.counts.RUNNING === 0) return;
  if (!asksPlanner(run)) return;
  open(draft, run.queued, now);
}

/** Also a plan that waits for a person: what is said about it changes it before anybody accepts it. */
function takesRounds({ phase, waitsFor, queued }: Run): boolean {
  return phase === 'RUNNING' || (waitsFor === 'plan_approval' && hasWords(queued));
}

/** Opens a round for tasks that no device has taken for long; where one is open they are asked about after it. */
export function openEditFor(draft: RunDraft, triggers: readonly EditTrigger[], now: number): void {
  const { run } = draft;
  if (triggers.length === 0 || run.editing !== null || run.phase !== 'RUNNING' || run.ending !== null) return;
  open(draft, triggers, now);
}

/** Asks the planner once per revision whether a plan that has ended was all; true when it did. */
export function opensEndOfPlan(draft: RunDraft, { now }: Circumstances): boolean {
  const { run } = draft;
  if (editPolicyOf(run) === 'never' || run.plannerSilent || run.endOfPlanRevision === run.revision) return false;
  if (!asksPlanner(run)) return false;
  if (run.phase === 'PAUSED') return true; // it is asked when the run goes on
  open(draft, [{ kind: 'end-of-plan' }], now);
  return true;
}

/** Not while all of the budget is given out: the end of what runs is the next occasion. */
function open(draft: RunDraft, triggers: readonly EditTrigger[], now: number): void {
  const { run } = draft;
  const budget = budgetOfRound(run);
  if (budget === null) return;
  const { editDeadlineMs = DEFAULTS.editDeadlineMs } = run.request?.options ?? {};
  draft.add({
    type: 'EDIT_OPENED',
    data: {
      editId: `e${run.rounds + 1}`,
      mode: hasPlan(run) ? 'editing' : 'creation',
      triggers: [...triggers],
      revision: run.revision,
      lockPolicy: lockPolicyOf(run),
      openedAt: instantOf(now),
      deadlineAt: instantOf(now + editDeadlineMs),
      ...(budget === undefined ? {} : { budget }),
    },
  });
}

type AbandonReason = RunEventData<'EDIT_ABANDONED'>['reason'];

/** Ends the open round, if there is one, without an edit. `failed`: what the planner came to, where it said so itself. */
export function abandonEdit(
  draft: RunDraft,
  reason: AbandonReason,
  now: number,
  failed: Pick<RunEventData<'EDIT_ABANDONED'>, 'planHash' | 'used'> = {},
): void {
  const { editing } = draft.run;
  if (editing === null) return;
  const { editId } = editing;
  draft.add({ type: 'EDIT_ABANDONED', data: { editId, reason, abandonedAt: instantOf(now), ...failed } });
}

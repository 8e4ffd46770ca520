import { type Actor, type EditViolation, LIMITS, type Proposal, type Refusal, sentenceOf, type Sha256 } from '#proto';
import { type Circumstances, instantOf } from './attempt-end.js';
import { applyEdits, type Applied } from './edit.js';
import { abandonEdit } from './edit-rounds.js';
import { beginToEnd } from './ending.js';
import type { RunDraft } from './evolve.js';
import { checkTarget, type FleetView } from './fleet-view.js';
import { ACCEPTED, type Answer, refuse } from './answer.js';
import { jsonBytes } from './json-bytes.js';
import { isTerminal, type Run } from './run.js';

/** A dead or slow planner stops a run for the length of one round at most. */
export function enforceEditDeadline(draft: RunDraft, { now }: Circumstances): void {
  const { editing } = draft.run;
  if (editing === null || instantOf(now) < editing.deadlineAt) return;
  abandonEdit(draft, { code: 'DEADLINE', message: 'no valid proposal came before the deadline' }, now);
  failWithoutPlan(draft, 'no plan was proposed before the deadline', now);
}

/** What a run without any plan comes to when its first round is abandoned. */
function failWithoutPlan(draft: RunDraft, message: string, now: number): void {
  if (draft.run.graph !== null || isTerminal(draft.run)) return;
  beginToEnd(draft, { reason: 'plan_failed', by: null, note: message }, now);
}

export interface Proposed {
  readonly proposal: Proposal;
  readonly by: Actor;
  /** End of the chain of the planner's steps that led here; null when there are none. */
  readonly planHash: Sha256 | null;
}

/**
 * Judges a proposal against the constellation as it stands, all or nothing. One for the open round ends it or is refused
 * with reasons that the planner can repair; one without a round is an operator's edit, and a refusal of it leaves no trace.
 */
export function propose(draft: RunDraft, proposed: Proposed, circumstances: Circumstances): Answer {
  const { proposal } = proposed;
  const { run } = draft;
  if (run.phase === 'NONE') return refuse('NOT_FOUND', 'there is no such run');
  if (isTerminal(run)) return refuse('INVALID_STATE', `the run is ${run.phase}; only a retry opens it again`);
  if (run.ending !== null) return refuse('INVALID_STATE', 'the run is about to end');
  if (proposal.editId === null) return proposeUnasked(draft, proposed, circumstances);
  const { editing } = run;
  if (editing === null || editing.editId !== proposal.editId) return { kind: 'ignored', reason: 'ROUND_IS_OVER' };
  if (proposal.try <= editing.tries) return { kind: 'ignored', reason: 'REPEATED_TRY' };
  const judged = judge(run, proposed, circumstances);
  if (judged.ok) {
    modify(draft, proposed, judged, circumstances.now);
    return ACCEPTED;
  }
  return reject(draft, proposed, judged.violations, circumstances.now);
}

function proposeUnasked(draft: RunDraft, proposed: Proposed, circumstances: Circumstances): Answer {
  if (proposed.proposal.state !== 'CONTINUE') {
    return refuse(
      'INVALID_STATE',
      'state: only an answer to an edit round may be FINISH or FAIL; cancel the run instead',
    );
  }
  if (draft.run.graph === null)
    return refuse('INVALID_STATE', 'the run has no constellation yet; its planner is asked');
  const judged = judge(draft.run, proposed, circumstances);
  if (!judged.ok) return { kind: 'rejected', reason: refusalOf(judged.violations) };
  if (!judged.staging.changed) return { kind: 'ignored', reason: 'NO_CHANGE' };
  modify(draft, proposed, judged, circumstances.now);
  return ACCEPTED;
}

function judge(run: Run, { proposal }: Proposed, { fleet, now }: Circumstances): Applied {
  const { baseRevision, edits, state } = proposal;
  if (baseRevision !== null && baseRevision !== run.revision) {
    const message = `it was made for revision ${baseRevision} and the constellation has revision ${run.revision}; look at it again`;
    return { ok: false, violations: [{ code: 'STALE_REVISION', path: 'baseRevision', message }] };
  }
  const bytes = jsonBytes(edits);
  if (bytes > LIMITS.editBytesMax) {
    const message = `the edits have ${bytes} bytes as JSON; at most ${LIMITS.editBytesMax} are taken`;
    return { ok: false, violations: [{ code: 'TOO_LARGE', path: 'edits', message }] };
  }
  const applied = applyEdits(run, edits, now);
  if (!applied.ok) return applied;
  if (state === 'CONTINUE' && applied.staging.counts.tasks === 0) {
    const message = 'a plan needs at least one task; propose some, or FINISH or FAIL';
    return { ok: false, violations: [{ code: 'INVALID_INPUT', path: 'edits', message }] };
  }
  const violations = misdirected(applied, fleet);
  return violations.length > 0 ? { ok: false, violations } : applied;
}

/** What no device could ever do, of the tasks that the batch defines. */
function misdirected({ staging, defined }: Extract<Applied, { ok: true }>, fleet: FleetView): EditViolation[] {
  return [...defined].flatMap(([index, path]): EditViolation[] => {
    const { star } = staging.task(index);
    if (staging.positionOfTask(star.id) === undefined) return [];
    const issue = checkTarget(star, fleet);
    return issue === undefined ? [] : [{ code: issue.code, path: `${path}.${issue.path}`, message: issue.message }];
  });
}

function modify(
  draft: RunDraft,
  { proposal, by, planHash }: Proposed,
  { staging, judged }: Extract<Applied, { ok: true }>,
  now: number,
): void {
  const { run } = draft;
  const { editId, state, edits, trace } = proposal;
  const { tasks, lines } = staging.counts;
  const round = editId === null ? {} : { editId, try: proposal.try, state };
  draft.add({
    type: 'CONSTELLATION_MODIFIED',
    data: {
      revision: run.revision + (staging.changed ? 1 : 0),
      origin: editId === null ? 'operator' : 'planner',
      tasks,
      lines,
      modifiedAt: instantOf(now),
      ...round,
      edits: staging.changed ? edits : [],
      judged: [...judged],
      proposedBy: by,
      ...(trace === undefined ? {} : { trace }),
      planHash,
    },
  });
  const { ending } = draft.run;
  if (ending !== null) beginToEnd(draft, ending, now);
}

function reject(
  draft: RunDraft,
  { proposal, by, planHash }: Proposed,
  violations: readonly EditViolation[],
  now: number,
): Answer {
  const { editing, revision } = draft.run;
  if (editing === null) throw new Error('a proposal was judged without a round');
  // What was started under the planner's eyes would be started again and again: the rest of the round stops everything.
  const raced = violations.some(({ code }) => code === 'I3_ONLY_PENDING');
  const { editId } = editing;
  draft.add({
    type: 'EDIT_REJECTED',
    data: {
      editId,
      try: proposal.try,
      revision,
      violations: [...violations],
      lockPolicy: raced ? 'strict' : editing.lockPolicy,
      proposedBy: by,
      rejectedAt: instantOf(now),
      planHash,
    },
  });
  if ((draft.run.editing?.rejections ?? 0) > LIMITS.repairsMax) {
    abandonEdit(draft, { code: 'REPAIRS_EXHAUSTED', message: `${LIMITS.repairsMax} repairs were refused, too` }, now);
    failWithoutPlan(draft, 'no valid plan was proposed', now);
  }
  return { kind: 'rejected', reason: refusalOf(violations), recorded: true };
}

function refusalOf(violations: readonly EditViolation[]): Refusal {
  const issues = violations.map(({ path, message }) => ({ path, message }));
  const [first] = issues;
  return { code: 'EDIT_REJECTED', message: first === undefined ? 'the edit is not valid' : sentenceOf(first), issues };
}

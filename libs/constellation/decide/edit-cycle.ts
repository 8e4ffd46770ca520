import {
  instantOf,
  type Actor,
  type EditId,
  type EditViolation,
  LIMITS,
  type LineResult,
  type PlanSource,
  type Proposal,
  type Refusal,
  type RunEventData,
  sentenceOf,
  type Sha256,
  type Usage,
} from '#proto';
import type { Circumstances } from '../schedule/index.js';
import {
  applyEdits,
  type Applied,
  judgeOwed,
  VIOLATIONS_MAX,
  checkTarget,
  type FleetView,
  outOfScope,
} from '../edits/index.js';
import { abandonEdit } from './edit-rounds.js';
import { beginToEnd } from './ending.js';
import { boundedAnswer } from './end-size.js';
import type { RunDraft } from '../fold/index.js';
import { answerOf } from './final-answer.js';
import { ACCEPTED, type Answer, refuse, jsonBytes } from '../values/index.js';
import { hasPlan, hasWords, isTerminal, PLAN_WAITS, type Run, standingWords } from '../state/index.js';

/** A dead or slow planner stops a run for the length of one round at most. */
export function enforceEditDeadline(draft: RunDraft, { now }: Circumstances): void {
  const { editing } = draft.run;
  if (editing === null || instantOf(now) < editing.deadlineAt) return;
  const [first] = editing.violations;
  abandonEdit(draft, { code: 'DEADLINE', message: 'no valid proposal came before the deadline' }, now);
  const why = first === undefined ? 'no plan was proposed' : 'no valid plan was proposed';
  const note = `${why} before the deadline${first === undefined ? '' : `: ${sentenceOf(first)}`}`;
  failWithoutPlan(draft, { note }, now);
}

/** What a run without any plan comes to when its first round is abandoned; what was said meanwhile is one more try. */
function failWithoutPlan(draft: RunDraft, { note, reason = 'plan_failed' }: NoPlan, now: number): void {
  if (hasPlan(draft.run) || isTerminal(draft.run) || hasWords(draft.run.queued)) return;
  beginToEnd(draft, { reason, by: null, note }, now);
}

interface NoPlan {
  readonly note: string;
  readonly reason?: 'plan_failed' | 'budget';
}

export interface Proposed {
  readonly proposal: Proposal;
  readonly by: Actor;
  /** End of the chain of the planner's steps that led here; null when there are none. */
  readonly planHash: Sha256 | null;
  /** What the planner made it from, and what it used up for it; null of what came as a verb. */
  readonly source: PlanSource | null;
  readonly used: Usage | null;
  /** A model may have written it: its commands are judged before they run, and it is bound to the scope of the plan. */
  readonly judged: boolean;
}

/** The planner's word that it comes to no plan. Two codes are told apart: TOO_MANY_ROUNDS, and BUDGET_EXHAUSTED of a first plan. */
export interface RoundFailure {
  readonly editId: EditId;
  readonly try: number;
  readonly error: { readonly code: string; readonly message: string };
  readonly used: Usage;
  readonly planHash: Sha256 | null;
}

/** The round ends without an edit: what has a plan goes on with it, and what has none has failed. */
export function failRound(
  draft: RunDraft,
  { editId, try: number, error, used, planHash }: RoundFailure,
  { now }: Circumstances,
): Answer {
  const { editing } = draft.run;
  if (editing === null || editing.editId !== editId) return { kind: 'ignored', reason: 'ROUND_IS_OVER' };
  if (number <= editing.tries) return { kind: 'ignored', reason: 'REPEATED_TRY' };
  const { code, message } = error;
  const reason = code === 'TOO_MANY_ROUNDS' ? code : 'PLANNER_FAILED';
  abandonEdit(draft, { code: reason, message }, now, { planHash, used });
  failWithoutPlan(draft, { note: message, reason: code === 'BUDGET_EXHAUSTED' ? 'budget' : 'plan_failed' }, now);
  return ACCEPTED;
}

/**
 * Judges a proposal against the constellation as it stands, all or nothing. One for the open round ends it or is refused
 * with reasons that the planner can repair; one without a round is an operator's edit, and a refusal of it leaves no trace.
 */
export function proposeEdits(draft: RunDraft, proposed: Proposed, circumstances: Circumstances): Answer {
  const { proposal } = proposed;
  const { run } = draft;
  if (run.phase === 'NONE') return refuse('NOT_FOUND', 'there is no such run');
  if (isTerminal(run))
    return refuse('INVALID_STATE', `the run is ${run.phase}; only a retry, or something said to it, opens it again`);
  if (run.ending !== null) return refuse('INVALID_STATE', 'the run is about to end');
  if (proposal.editId === null) return proposeUnasked(draft, proposed, circumstances);
  const { editing } = run;
  if (editing === null || editing.editId !== proposal.editId) return { kind: 'ignored', reason: 'ROUND_IS_OVER' };
  if (proposal.try <= editing.tries) return { kind: 'ignored', reason: 'REPEATED_TRY' };
  const judged = judge(draft, proposed, circumstances);
  if (judged.ok) {
    modify(draft, proposed, judged, circumstances);
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
  if (!hasPlan(draft.run)) return refuse('INVALID_STATE', 'the run has no constellation yet; its planner is asked');
  const judged = judge(draft, proposed, circumstances);
  if (!judged.ok) return { kind: 'rejected', reason: refusalOf(judged.violations) };
  if (!judged.staging.changed) return { kind: 'ignored', reason: 'NO_CHANGE' };
  modify(draft, proposed, judged, circumstances);
  return ACCEPTED;
}

type Judged = (Extract<Applied, { ok: true }> & { readonly judged: readonly LineResult[] }) | Refused;
type Refused = Extract<Applied, { ok: false }>;

function judge(draft: RunDraft, { proposal, judged }: Proposed, { fleet, now }: Circumstances): Judged {
  const { run } = draft;
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
  const applied = applyEdits(run, edits, now, judged);
  if (!applied.ok) return applied;
  if (state === 'CONTINUE' && applied.staging.counts.tasks === 0) {
    const message = 'a plan needs at least one task; propose some, or FINISH or FAIL';
    return { ok: false, violations: [{ code: 'INVALID_INPUT', path: 'edits', message }] };
  }
  const violations = [...(judged ? outOfScope(applied, run.scope, fleet) : []), ...misdirected(applied, fleet)];
  // Thousands of tasks that are all wrong would not fit into the commit that says so.
  if (violations.length > 0) return { ok: false, violations: violations.slice(0, VIOLATIONS_MAX) };
  return { ...applied, judged: judgeOwed(applied, draft.judge) };
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
  proposed: Proposed,
  { staging, judged }: Extract<Judged, { ok: true }>,
  circumstances: Circumstances,
): void {
  const { run } = draft;
  const { now } = circumstances;
  const { proposal, by, planHash } = proposed;
  const { editId, state, edits, trace, spare } = proposal;
  const { tasks, lines } = staging.counts;
  const isPlan = !hasPlan(run) && tasks > 0;
  draft.add({
    type: 'CONSTELLATION_MODIFIED',
    data: {
      revision: run.revision + (staging.changed ? 1 : 0),
      origin: editId === null ? 'operator' : 'planner',
      tasks,
      lines,
      modifiedAt: instantOf(now),
      ...(editId === null ? {} : { editId, try: proposal.try, state }),
      edits: staging.changed ? edits : [],
      judged: [...judged],
      proposedBy: by,
      ...(trace === undefined ? {} : { trace }),
      planHash,
      ...originOf(run, proposed),
      ...(isPlan && spare !== undefined ? { spare } : {}),
    },
  });
  const { ending } = draft.run;
  if (ending !== null) beginToEnd(draft, ending, now);
  else if (isPlan && draft.run.phase === 'RUNNING' && run.request?.options.plan === 'approve') {
    const pausedAt = instantOf(now);
    draft.add({
      type: 'RUN_PAUSED',
      data: { by: 'system', reason: PLAN_WAITS, pausedAt, waitsFor: 'plan_approval' },
    });
    // Who has approved this very plan before is not asked once more.
    const words = standingWords(draft.run, circumstances);
    if (words !== undefined) draft.add({ type: 'RUN_RESUMED', data: { ...words, resumedAt: pausedAt } });
  }
}

type Origin = Pick<RunEventData<'CONSTELLATION_MODIFIED'>, 'source' | 'judgeCommands' | 'answer' | 'used'>;

/** What a proposal comes from, what it cost, and what is answered with it. */
function originOf(run: Run, { proposal, source, used, judged }: Proposed): Origin {
  const { state, answer } = proposal;
  const by = source === 'rule' || source === 'runbook' ? 'collected' : 'model';
  return {
    ...(source === null ? {} : { source }),
    ...(judged ? { judgeCommands: true } : {}),
    ...(state === 'CONTINUE' || answer === undefined ? {} : { answer: boundedAnswer(answerOf(run, answer, by)) }),
    ...(used === null ? {} : { used }),
  };
}

function reject(
  draft: RunDraft,
  { proposal, by, planHash, used }: Proposed,
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
      ...(used === null ? {} : { used }),
    },
  });
  if ((draft.run.editing?.rejections ?? 0) > LIMITS.repairsMax) {
    abandonEdit(draft, { code: 'REPAIRS_EXHAUSTED', message: `${LIMITS.repairsMax} repairs were refused, too` }, now);
    const [first] = violations;
    const why = first === undefined ? '' : `: ${sentenceOf(first)}`;
    failWithoutPlan(draft, { note: `no valid plan was proposed${why}` }, now);
  }
  return { kind: 'rejected', reason: refusalOf(violations), recorded: true };
}

function refusalOf(violations: readonly EditViolation[]): Refusal {
  const issues = violations.map(({ path, message }) => ({ path, message }));
  const [first] = issues;
  return { code: 'EDIT_REJECTED', message: first === undefined ? 'the edit is not valid' : sentenceOf(first), issues };
}

import { type Actor, instantOf, mayDo, type RunEvent, sentenceOf } from '#proto';
import { ACCEPTED, type Answer, refuse } from '../values/index.js';
import { recordAsk, type WordBefore, saidBefore } from './approvals.js';
import { boardWritesOf, failAttempt } from './attempt-end.js';
import { type Circumstances, taskFailed } from '../schedule/index.js';
import { close } from './close.js';
import { acceptedBefore, control } from './control.js';
import { failRound, proposeEdits } from './edit-cycle.js';
import type { Input } from './input.js';
import { RunDraft } from '../fold/index.js';
import {
  isCurrentAttempt,
  isPlanJudged,
  isTerminal,
  judgeLines,
  mayNotSay,
  type Run,
  type RunAsked,
} from '../state/index.js';
import { checkTargets } from '../edits/index.js';
import { Judge, type Question } from '../plan/index.js';

export interface RunDecision {
  /** One closed commit: the inputs' facts and all that follows from them. Empty: nothing follows. */
  readonly events: readonly RunEvent[];
  /** One per input, in order. */
  readonly answers: readonly Answer[];
  /** The state after `events`. */
  readonly run: Run;
  /** Earliest instant the run waits for; null when it is terminal. It is armed before the commit is appended. */
  readonly wakeAt: number | null;
  /** Busy devices of which a ready task waits for a slot; ANY_DEVICE when one waits for a device to connect. Empty: none waits. */
  readonly starvedOf: ReadonlySet<string>;
  /** What has to be found out first: while there is any, nothing else of this decision may be used. */
  readonly wanted: readonly Question[];
}

/**
 * Decides everything that waits for a run. Pure, idempotent and order-tolerant: a repeated or stale input is ignored, and
 * every event that follows (line results, retries, skips, starts, stops, edit rounds, the run's end) leaves in the same commit.
 */
export function decide(run: Run, inputs: readonly Input[], circumstances: Circumstances): RunDecision {
  const draft = new RunDraft(run, new Judge(circumstances.truths));
  const decided = new Map<string, Answer>();
  const answers = inputs.map((input) => {
    if (!('id' in input)) return take(draft, input, circumstances);
    // Sent again before it was answered: both wait here together, and it is one verb all the same.
    const answer = decided.get(input.id) ?? take(draft, input, circumstances);
    decided.set(input.id, answer);
    return answer;
  });
  const { wakeAt, starvedOf } = close(draft, circumstances);
  return { events: draft.events, answers, run: draft.run, wakeAt, starvedOf, wanted: draft.judge.wanted };
}

const ISSUES_MAX = 20;

function take(draft: RunDraft, input: Input, circumstances: Circumstances): Answer {
  switch (input.kind) {
    case 'submit':
      return submit(draft, input, circumstances);
    case 'fork':
      return fork(draft, input, circumstances);
    case 'attempt-ended':
      return endAttempt(draft, input, circumstances);
    case 'asked':
      return recordAsk(draft, input, circumstances);
    case 'late-result':
      return annotate(draft, input, circumstances);
    case 'proposal':
      return proposeEdits(draft, { ...input, judged: isPlanJudged(draft.run, input.source) }, circumstances);
    case 'round-failed':
      return failRound(draft, input, circumstances);
    case 'evaluated':
      return evaluate(draft, input, circumstances);
    case 'verb':
      return obey(draft, input, circumstances);
    case 'pause':
      return pause(draft, input.reason, circumstances);
    case 'wake':
      return ACCEPTED;
  }
}

function obey(
  draft: RunDraft,
  { id, by, action, roles }: Extract<Input, { kind: 'verb' }>,
  circumstances: Circumstances,
): Answer {
  const decided = draft.run.verbs.get(id);
  if (decided?.rejected === false)
    return {
      kind: 'accepted',
      sequence: decided.sequence,
      ...before(draft.run, action, { by, approvers: circumstances.approvers }),
    };
  if (decided?.rejected === true) {
    return refuse(
      'EDIT_REJECTED',
      `the edit was refused before; event ${decided.sequence} and those before it say why`,
    );
  }
  const problem = mayNotSay(draft.run, action.verb, { by, roles });
  if (problem !== undefined) return problem;
  const isTrusted = roles === undefined || mayDo(roles, 'RUN_UNJUDGED');
  const judged = ('delegated' in action && action.delegated === true) || by.kind === 'system' || !isTrusted;
  if (action.verb === 'BOARD_SET' || action.verb === 'BOARD_DELETE')
    return control(draft, { ...action, judged }, by, circumstances);
  if (action.verb !== 'PROPOSE') return control(draft, action, by, circumstances);
  const { proposal } = action;
  return proposeEdits(draft, { proposal, by, planHash: null, source: null, used: null, judged }, circumstances);
}

/** What a word that is one of several comes to is said again, too. */
function before(
  run: Run,
  action: Extract<Input, { kind: 'verb' }>['action'],
  { by, approvers }: { readonly by: Actor } & Pick<Circumstances, 'approvers'>,
): WordBefore {
  if (action.verb === 'APPROVE') return saidBefore(run, action.approvalId, by, approvers);
  return action.verb === 'RESUME' ? acceptedBefore(run, by, approvers) : {};
}

type SubmitInput = Extract<Input, { kind: 'submit' }>;

/** The same request is the same run for ever, also when its words mean something else by now than when it was first sent. */
function isSame(asked: RunAsked, { requested, formerHash }: SubmitInput): boolean {
  return (
    asked.contentHash ===
    (asked.untypedLines === undefined ? (formerHash ?? requested.contentHash) : requested.contentHash)
  );
}

function submit(draft: RunDraft, submitted: SubmitInput, circumstances: Circumstances): Answer {
  const { requested } = submitted;
  const { request } = draft.run;
  if (request !== null) {
    if (isSame(request, submitted)) return ACCEPTED;
    const message = `the request id "${requested.requestId}" was used before with other content`;
    return {
      kind: 'rejected',
      reason: { code: 'IDEMPOTENCY_CONFLICT', message, issues: [{ path: 'requestId', message }] },
    };
  }
  if (submitted.refusal !== undefined) return { kind: 'rejected', reason: submitted.refusal };
  const { constellation, requestedAt } = requested;
  if (constellation === null) {
    if (!circumstances.planner && requested.options.planner !== 'external') {
      const message = 'a goal needs a planner and none is there; send a constellation';
      return { kind: 'rejected', reason: { code: 'NO_PLANNER', message, issues: [{ path: 'goal', message }] } };
    }
    draft.add({ type: 'RUN_REQUESTED', data: requested });
    return ACCEPTED;
  }
  const issues = checkTargets(constellation, circumstances.fleet).map(({ path, message }) => ({
    path: `constellation.${path}`,
    message,
  }));
  const [first] = issues;
  if (first !== undefined) {
    return {
      kind: 'rejected',
      reason: { code: 'INVALID_REQUEST', message: sentenceOf(first), issues: issues.slice(0, ISSUES_MAX) },
    };
  }
  draft.add(
    { type: 'RUN_REQUESTED', data: requested },
    {
      type: 'CONSTELLATION_MODIFIED',
      data: {
        revision: 1,
        origin: 'request',
        tasks: constellation.tasks.length,
        lines: constellation.lines.length,
        modifiedAt: requestedAt,
      },
    },
  );
  return ACCEPTED;
}

/** A run that goes on from where another one stood. What ran there at that instant is not known here, and is not run again. */
function fork(draft: RunDraft, { id, forked }: Extract<Input, { kind: 'fork' }>, { now }: Circumstances): Answer {
  const { phase, sequence, verbs } = draft.run;
  if (phase !== 'NONE') return { kind: 'accepted', sequence: verbs.get(id)?.sequence ?? sequence };
  draft.add({ type: 'RUN_FORKED', data: forked });
  for (const index of Array.from(draft.run.running)) {
    const message = `it was running in run ${forked.parent.runId} when this one was forked; nobody here knows what it has done`;
    const error = { code: 'OUTCOME_UNKNOWN', message, outcome: 'unknown' } as const;
    draft.add(taskFailed(draft, index, error, now));
  }
  return ACCEPTED;
}

/** A result counts once, and only from the attempt that is running: devices retry and streams redeliver. */
function endAttempt(
  draft: RunDraft,
  input: Extract<Input, { kind: 'attempt-ended' }>,
  circumstances: Circumstances,
): Answer {
  const { run } = draft;
  const { taskId, attempt, finished, attemptHash } = input;
  const index = run.graph.taskIndex.get(taskId);
  if (index === undefined) return { kind: 'ignored', reason: 'UNKNOWN_TASK' };
  const task = run.tasks.at(index);
  if (!isCurrentAttempt(task, attempt)) {
    return { kind: 'ignored', reason: task.attempt === attempt ? 'DUPLICATE_RESULT' : 'STALE_ATTEMPT' };
  }
  const { used, notes } = finished;
  if (finished.status === 'completed') {
    const { result } = finished;
    const writes = boardWritesOf(run, index, result, instantOf(circumstances.now));
    if (!writes.ok) {
      const error = { code: 'BOARD_REFUSED', message: writes.problem, outcome: 'failed', output: result } as const;
      failAttempt(draft, index, { error, attemptHash, used, notes }, circumstances);
      return ACCEPTED;
    }
    const completedAt = instantOf(circumstances.now);
    const more = { ...(used === undefined ? {} : { used }), ...(notes === undefined ? {} : { notes }) };
    draft.add(...writes.events);
    const lines = judgeLines(run, index, { status: 'COMPLETED', result }, draft.judge);
    draft.add({ type: 'TASK_COMPLETED', data: { taskId, attempt, result, lines, completedAt, attemptHash, ...more } });
    return ACCEPTED;
  }
  failAttempt(draft, index, { error: finished.error, attemptHash, used, notes }, circumstances);
  return ACCEPTED;
}

function annotate(draft: RunDraft, input: Extract<Input, { kind: 'late-result' }>, { now }: Circumstances): Answer {
  const { taskId, attempt, text, attemptHash } = input;
  if (draft.run.graph.taskIndex.get(taskId) === undefined) return { kind: 'ignored', reason: 'UNKNOWN_TASK' };
  draft.add({
    type: 'RUN_ANNOTATED',
    data: { kind: 'late_result', taskId, attempt, text, attemptHash, annotatedAt: instantOf(now) },
  });
  return ACCEPTED;
}

/** Once, and only of a run that is over: what it is worth may still change before. */
function evaluate(
  draft: RunDraft,
  { evaluation, used, planHash }: Extract<Input, { kind: 'evaluated' }>,
  { now }: Circumstances,
): Answer {
  if (!isTerminal(draft.run)) return { kind: 'ignored', reason: 'NOT_ENDED' };
  if (draft.run.evaluation !== null) return { kind: 'ignored', reason: 'EVALUATED_BEFORE' };
  const annotatedAt = instantOf(now);
  draft.add({ type: 'RUN_ANNOTATED', data: { kind: 'evaluation', evaluation, used, planHash, annotatedAt } });
  return ACCEPTED;
}

function pause(draft: RunDraft, reason: string, { now }: Circumstances): Answer {
  if (draft.run.phase !== 'RUNNING') return { kind: 'ignored', reason: 'NOT_RUNNING' };
  draft.add({ type: 'RUN_PAUSED', data: { by: 'system', reason, pausedAt: instantOf(now) } });
  return ACCEPTED;
}

import {
  type Actor,
  DEFAULTS,
  instantOf,
  LIMITS,
  type RunEvent,
  type RunVerb,
  type SaidWords,
  type TaskId,
  type VerbBody,
} from '#proto';
import { ACCEPTED, type Answer, jsonBytes, refuse } from '../values/index.js';
import { decideApproval, type WordBefore } from './approvals.js';
import type { Circumstances } from '../schedule/index.js';
import {
  type Approvers,
  asksPlanner,
  authorOf,
  countText,
  doomOf,
  findTask,
  isCurrentAttempt,
  isSole,
  isTerminal,
  isTerminalTask,
  isUnsatisfied,
  mayGetMore,
  neededOf,
  notForAuthors,
  planTally,
  Purse,
  type Run,
  sameActor,
  SELF_APPROVED,
  whomToAsk,
} from '../state/index.js';
import { boardWrite, foundEntry } from '../board/index.js';
import { abandonEdit } from './edit-rounds.js';
import { beginToEnd } from './ending.js';
import type { RunDraft } from '../fold/index.js';
import { reopenTask } from './reopen.js';
import { listOfIds, positionOf } from '../plan/index.js';
import { hasUndone } from '../waves/index.js';

/** The verbs that are decided here: all but those that come with more than what is said. */
type ControlVerb = Exclude<RunVerb, 'FORK' | 'PROPOSE'>;
type Told<V extends ControlVerb> = { readonly verb: V } & Readonly<Omit<VerbBody<V>, 'id' | 'actor' | 'grant'>> &
  (V extends 'SAY' ? Pick<SaidWords, 'delegated'> : unknown) &
  (V extends 'BOARD_SET' | 'BOARD_DELETE' ? WhoseWrite : unknown);

/** `judged`: a model may have written it, or who is no operator. */
type WhoseWrite = Pick<SaidWords, 'delegated'> & { readonly judged?: boolean | undefined };

/** What a person, or a program in a person's place, may tell a run to do. */
export type Control = { [V in ControlVerb]: Told<V> }[ControlVerb];

type Decide<V extends ControlVerb> = (
  draft: RunDraft,
  told: Told<V>,
  by: Actor,
  circumstances: Circumstances,
) => Answer;

const DECIDED: { readonly [V in ControlVerb]: Decide<V> } = {
  CANCEL: cancel,
  PAUSE: pause,
  RESUME: resume,
  RETRY: retry,
  SAY: say,
  BOARD_SET: write,
  BOARD_DELETE: write,
  ANNOTATE: annotate,
  DISCARD: discard,
  APPROVE: decideApproval,
  REJECT: decideApproval,
  ANSWER: decideApproval,
};

export function control<V extends ControlVerb>(
  draft: RunDraft,
  told: Told<V>,
  by: Actor,
  circumstances: Circumstances,
): Answer {
  if (draft.run.phase === 'NONE') return refuse('NOT_FOUND', 'there is no such run');
  const decided: Decide<V> = DECIDED[told.verb];
  return decided(draft, told, by, circumstances);
}

function cancel(draft: RunDraft, { reason }: Told<'CANCEL'>, by: Actor, { now }: Circumstances): Answer {
  const { run } = draft;
  if (run.phase === 'CANCELLED' || run.ending?.reason === 'cancelled')
    return { kind: 'ignored', reason: 'CANCELLED_BEFORE' };
  if (isTerminal(run)) return refuse('INVALID_STATE', `the run is ${run.phase}; there is nothing left to cancel`);
  if (run.ending !== null) return { kind: 'ignored', reason: 'ENDING' };
  abandonEdit(draft, { code: 'RUN_ENDING', message: 'the run was cancelled' }, now);
  beginToEnd(draft, { reason: 'cancelled', by, note: reason ?? null }, now);
  return ACCEPTED;
}

function pause(draft: RunDraft, { reason }: Told<'PAUSE'>, actor: Actor, { now }: Circumstances): Answer {
  const { run } = draft;
  if (run.phase === 'PAUSED') return { kind: 'ignored', reason: 'PAUSED_BEFORE' };
  if (isTerminal(run)) return refuse('INVALID_STATE', `the run is ${run.phase}; only a run that goes on can be paused`);
  draft.add({
    type: 'RUN_PAUSED',
    data: { by: 'operator', actor, reason: reason ?? `paused by ${actor.id}`, pausedAt: instantOf(now) },
  });
  return ACCEPTED;
}

function resume(draft: RunDraft, _: Told<'RESUME'>, by: Actor, circumstances: Circumstances): Answer {
  const { run } = draft;
  if (run.phase === 'RUNNING') return { kind: 'ignored', reason: 'NOT_PAUSED' };
  if (isTerminal(run)) return refuse('INVALID_STATE', `the run is ${run.phase}; only a paused run can be resumed`);
  if (run.waitsFor === 'plan_approval') return acceptPlan(draft, by, circumstances);
  draft.add({ type: 'RUN_RESUMED', data: { by, resumedAt: instantOf(circumstances.now) } });
  return ACCEPTED;
}

/** One word of those that a plan takes before it starts: the last one starts it. A plan that was changed meanwhile takes them anew. */
function acceptPlan(draft: RunDraft, by: Actor, { now, approvers }: Circumstances): Answer {
  const { run } = draft;
  if (by.kind !== 'person') {
    return refuse('UNAUTHORIZED', `only a person may accept a plan, and ${by.id} is of kind ${by.kind}`);
  }
  // Where nobody knows who else could be asked, whoever looks at a plan may accept it.
  const own = approvers === undefined ? undefined : notForAuthors(run, by, { approvers, what: 'its plan' });
  if (own !== undefined) return own;
  if (run.editing !== null) {
    const { editId } = run.editing;
    return refuse(
      'INVALID_STATE',
      `the planner is asked about what was said (${editId}); look at the plan when it has answered`,
    );
  }
  const at = instantOf(now);
  const needed = neededOf(run);
  const before = planTally(run, approvers);
  const isRepeated = before.some((one) => sameActor(one, by));
  const counted = isRepeated ? before : [...before, by];
  if (counted.length < needed) {
    const detail = planProgress(run, counted, approvers);
    if (isRepeated) return { kind: 'ignored', reason: 'ALREADY_GIVEN', detail };
    draft.add({ type: 'PLAN_ACCEPTED', data: { by, revision: run.revision, acceptedAt: at } });
    return { kind: 'accepted', detail, waits: true };
  }
  const isOwn = isSole(by, approvers) && authorOf(run, by) !== undefined;
  const approvedBy = needed > 1 ? { approvedBy: counted.slice(-needed) } : {};
  const marked = isOwn ? { selfApproved: true as const } : {};
  draft.add({ type: 'RUN_RESUMED', data: { by, resumedAt: at, ...approvedBy, ...marked } });
  return isOwn ? { kind: 'accepted', detail: SELF_APPROVED } : ACCEPTED;
}

/** What there is to say of a word for the plan that was accepted before, as it stands now. */
export function acceptedBefore(run: Run, by: Actor, approvers: Approvers): WordBefore {
  const counted = planTally(run, approvers);
  if (run.waitsFor !== 'plan_approval' || !counted.some((one) => sameActor(one, by))) return {};
  return { detail: planProgress(run, counted, approvers), waits: true };
}

/** `1 of 2, by anna; another person has to approve it: ask bert`. */
function planProgress(run: Run, counted: readonly Actor[], approvers: Approvers): string {
  const given = counted.map((by) => ({ by }));
  return `${countText(given, neededOf(run))}; ${whomToAsk(run, { approvers, given })}`;
}

/** A person's word that a task shall be tried again, also where nobody knows what the last attempt has done. */
function retry(draft: RunDraft, { taskId }: Told<'RETRY'>, by: Actor, { now }: Circumstances): Answer {
  const { run } = draft;
  const index = run.graph.taskIndex.get(taskId);
  if (index === undefined) {
    return unknownTask(run, taskId);
  }
  if (run.ending !== null) return refuse('INVALID_STATE', 'the run is about to end; retry the task when it has');
  const { status, attempt, stopping, part } = run.tasks.at(index);
  const whole = part === null ? undefined : findTask(run, part.of);
  if (whole !== undefined && isTerminalTask(whole.status) && isTerminalTask(status)) {
    const message = `"${taskId}" is one device of "${whole.star.id}", which has ended; retry "${whole.star.id}": it tries again what has not completed`;
    return refuse('INVALID_STATE', `taskId: ${message}`);
  }
  switch (status) {
    case 'PENDING':
      return { kind: 'ignored', reason: 'PENDING' };
    case 'COMPLETED':
      if (hasUndone(run, run.tasks.at(index))) return reopenFor(draft, index, by, now);
      return refuse('INVALID_STATE', `taskId: "${taskId}" is COMPLETED; fork the run to execute it again`);
    case 'RUNNING': {
      if (stopping?.reason === 'retry') return { kind: 'ignored', reason: 'RETRIED_BEFORE' };
      const [requestedAt, graceUntil] = [instantOf(now), stopping?.graceUntil ?? instantOf(now + LIMITS.stopGraceMs)];
      draft.add({
        type: 'TASK_STOP_REQUESTED',
        data: { taskId, attempt, reason: 'retry', by, requestedAt, graceUntil },
      });
      return ACCEPTED;
    }
    case 'SKIPPED':
    case 'FAILED':
    case 'CANCELLED': {
      const blocked = whatBlocks(run, index);
      if (blocked !== undefined) return refuse('INVALID_STATE', `taskId: ${blocked}`);
      const lacking = mayGetMore(run) ? [] : new Purse(run).lacking(run.tasks.at(index).star);
      if (lacking.length > 0) {
        const message = `nothing is left of the budget of the run (${lacking.join(', ')}); a fork of it has a new one`;
        return refuse('INVALID_STATE', `taskId: ${message}`);
      }
      return reopenFor(draft, index, by, now);
    }
  }
}

function reopenFor(draft: RunDraft, index: number, by: Actor, now: number): Answer {
  if (isTerminal(draft.run)) draft.add(reopened(draft.run, by, now));
  reopenTask(draft, index, { reason: 'operator', by, notBefore: instantOf(now) });
  return ACCEPTED;
}

/** A run that has ended goes on; its time counts anew. */
function reopened({ request }: Run, by: Actor, now: number): RunEvent {
  const deadlineMs = request?.options.deadlineMs ?? DEFAULTS.runDeadlineMs;
  return {
    type: 'RUN_REOPENED',
    data: { by, reopenedAt: instantOf(now), deadlineAt: instantOf(now + deadlineMs) },
  };
}

/** What somebody wants besides is for the planner to think about: nothing is changed, started or approved by saying it. */
function say(draft: RunDraft, { text, delegated }: Told<'SAY'>, by: Actor, circumstances: Circumstances): Answer {
  const { run } = draft;
  const { now } = circumstances;
  if (run.ending !== null) return refuse('INVALID_STATE', 'the run is about to end; say it when it has');
  const unheard = whyUnheard(run, circumstances) ?? whyTooMuch(run, text);
  if (unheard !== undefined) return unheard;
  const detail = heardText(run, by, circumstances);
  if (isTerminal(run)) draft.add(reopened(run, by, now));
  const said = { number: run.words.length + 1, by, text, saidAt: instantOf(now) };
  draft.add({ type: 'WORDS_SAID', data: { ...said, ...(delegated && { delegated }) } });
  return { kind: 'accepted', detail };
}

/** The refusal where nobody would think about what is said, with what can be done in its place; undefined where somebody will. */
function whyUnheard(run: Run, { planner, model }: Circumstances): Answer | undefined {
  const { request, runId, noMoreRounds } = run;
  const { planner: whose, rounds } = request?.options ?? {};
  const instead = `change the plan yourself (orrery propose ${runId} -f <file>), or ask anew (orrery submit), also for a runbook`;
  if (whose !== 'external') {
    if (!planner) return refuse('NO_PLANNER', `what is said is read by a planner, and none is there; ${instead}`);
    if (model === false || rounds === 0) {
      const why = rounds === 0 ? 'options.rounds lets no model be asked in this run' : 'no model is configured for it';
      return refuse('NO_PLANNER', `what is said is read by the model of the planner, and ${why}; ${instead}`);
    }
  }
  if (asksPlanner(run)) return undefined;
  const why = noMoreRounds ?? 'nothing is left of the budget of the run for it';
  const fork = `a fork of the run begins to count anew (orrery fork ${runId} --at ${run.sequence})`;
  return refuse('INVALID_STATE', `the planner of this run is not asked any more: ${why}; ${fork}`);
}

/** The refusal where all of it together would be more than a run keeps. */
function whyTooMuch({ words }: Run, text: string): Answer | undefined {
  if (words.length >= LIMITS.wordsMax) {
    return refuse('INVALID_STATE', `${LIMITS.wordsMax} things were said to this run, the most that it takes`);
  }
  const bytes = jsonBytes([...words.map((said) => said.text), text]);
  if (bytes <= LIMITS.wordsBytesMax) return undefined;
  const message = `text: what was said to this run would have ${bytes} bytes; at most ${LIMITS.wordsBytesMax} are taken`;
  return refuse('TOO_LARGE', message);
}

/** What follows from it, for whoever said it. */
function heardText(run: Run, by: Actor, { approvers }: Circumstances): string {
  const { requestedBy } = run.request ?? {};
  const open = run.approvals.open.size + (run.waitsFor === null ? 0 : 1);
  return [
    whenAsked(run),
    ...(requestedBy === undefined || sameActor(requestedBy, by)
      ? []
      : [`it is said in the name of ${by.id}, and ${requestedBy.id} asked for the run`]),
    ...(open === 0 ? [] : [`it approves nothing of what waits for a person`]),
    ...(authorOf(run, by) === undefined && approvers?.includes(by.id) === true
      ? ['from now on somebody else approves what the run asks for']
      : []),
  ].join('; ');
}

function whenAsked(run: Run): string {
  if (isTerminal(run)) return `the run was ${run.phase} and goes on: its planner is asked now`;
  if (run.editing !== null) return `the planner is asked about it after round ${run.editing.editId}`;
  if (run.phase === 'PAUSED' && run.waitsFor === null) return 'the run is paused: the planner is asked when it goes on';
  return 'the planner is asked now';
}

/** A value for those who read the board: while the run goes on, and of an attempt while it does. */
function write(
  draft: RunDraft,
  told: Told<'BOARD_SET'> | Told<'BOARD_DELETE'>,
  by: Actor,
  { now, approvers }: Circumstances,
): Answer {
  const { run } = draft;
  const { name, revision, attempt, delegated, judged = false } = told;
  if (isTerminal(run)) {
    const message = `the run is ${run.phase}, and its board stays as it is; say something to it, or fork it, and it goes on`;
    return refuse('INVALID_STATE', message);
  }
  if (attempt !== undefined) {
    const task = findTask(run, attempt.taskId);
    if (task === undefined || !isCurrentAttempt(task, attempt.attempt)) {
      return refuse('INVALID_STATE', `attempt: attempt ${attempt.attempt} of "${attempt.taskId}" does not run`);
    }
  }
  const value = told.verb === 'BOARD_SET' ? told.value : undefined;
  const writer = { by, attempt, delegated, judge: judged || attempt !== undefined, at: instantOf(now) };
  const isNew = authorOf(run, by) === undefined && approvers?.includes(by.id) === true;
  const written = boardWrite(run.board, { name, value, revision }, writer);
  if (written.kind !== 'written') return written;
  draft.add({ type: 'BOARD_WRITTEN', data: written.data });
  const entry = run.board.entries.get(name);
  const detail = [
    ...(entry === undefined ? [] : [`revision ${entry.revision}`]),
    ...(entry?.judge === true ? ['a command that takes it is judged before it runs'] : []),
    ...(isNew ? ['from now on somebody else approves what the run asks for'] : []),
  ].join('; ');
  return {
    kind: 'accepted',
    board: entry === undefined ? null : foundEntry(entry),
    ...(detail !== '' && { detail }),
  };
}

/** Also of a run that has ended: what is to be known of it is often known afterwards. */
function annotate(draft: RunDraft, { text, taskId }: Told<'ANNOTATE'>, by: Actor, { now }: Circumstances): Answer {
  const { run } = draft;
  if (taskId !== undefined && run.graph.taskIndex.get(taskId) === undefined) return unknownTask(run, taskId);
  if (run.notes.length >= LIMITS.notesMax) {
    return refuse('INVALID_STATE', `the run has ${LIMITS.notesMax} notes, the most that it takes`);
  }
  const about = taskId === undefined ? {} : { taskId };
  draft.add({ type: 'RUN_ANNOTATED', data: { kind: 'note', by, text, ...about, annotatedAt: instantOf(now) } });
  return ACCEPTED;
}

/** A directory that was kept: while the run goes on its tasks work there, and where it never worked there is none. */
function discard(draft: RunDraft, { deviceId }: Told<'DISCARD'>, by: Actor, { now }: Circumstances): Answer {
  const { run } = draft;
  if (!isTerminal(run)) {
    return refuse('INVALID_STATE', `the run is ${run.phase}; its directories are removed when it has ended`);
  }
  if (!run.workspaces.has(deviceId)) {
    return refuse('NOT_FOUND', `deviceId: the run had no directory on "${deviceId}"`);
  }
  draft.add({ type: 'WORKSPACE_DISCARDED', data: { deviceId, by, discardedAt: instantOf(now) } });
  return ACCEPTED;
}

function unknownTask(run: Run, taskId: TaskId): Answer {
  const known = listOfIds([...run.tasks].map(({ star }) => star.id));
  return refuse('NOT_FOUND', `taskId: there is no task "${taskId}"; known are ${known}`);
}

/** A task with a line that is not satisfied would be skipped again at once: what is behind the line has to run first. */
function whatBlocks(run: Run, index: number): string | undefined {
  const { graph } = run;
  if (!graph.linesInto.at(index).some((line) => isUnsatisfied(run, line))) return undefined;
  const { lineId, reason } = doomOf(run, index);
  const { from } = graph.lines.at(positionOf(graph.lineIndex, lineId));
  return `"${graph.taskIds.at(index)}" cannot start, ${reason}; retry "${from}" first`;
}

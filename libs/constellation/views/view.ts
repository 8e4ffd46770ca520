import type {
  ApprovalView,
  EditingView,
  GivenView,
  Instant,
  LineView,
  RunStatus,
  RunSummary,
  RunView,
  TaskId,
  TaskStarLine,
  TaskView,
  WaitingFor,
} from '#proto';
import {
  type DecidedApproval,
  type OpenApproval,
  countText,
  countsIn,
  editorOf,
  neededOf,
  planTally,
  progressText,
  Purse,
  sameActor,
  UNDECIDED,
  type Editing,
  hasPlan,
  isAgentTask,
  isTerminal,
  type LineState,
  type Run,
  type TaskState,
} from '../state/index.js';
import { KnownParts } from '../values/index.js';
import { triggersText } from './event-text.js';
import { dueWaits, isHeld, waitText } from '../schedule/index.js';
import { recoveriesOf } from '../edits/index.js';
import { listOfIds } from '../plan/index.js';
import { fanOutView } from '../waves/index.js';

/**
 * The views of one run as it goes on, or as somebody goes through its time: of tasks and lines that did not change they are the same
 * objects, so that who draws them draws only the others, and only those cost anything to make.
 */
export class KnownViews {
  readonly tasks = new KnownParts<TaskView>();
  readonly lines = new KnownParts<LineView>();
}

/** A run as people and programs are shown it; pure, so the log, Postgres and the live state show the same. `known`: of who shows it as it goes on. */
export function viewOf(run: Run, now?: number, known?: KnownViews): RunView {
  const held = isHeld(run);
  const recovered = recoveriesOf(run);
  const { goal, options, requestedBy, labels = null } = requestOf(run);
  const { budget } = options;
  return {
    ...headOf(run),
    reason: run.reason,
    revision: run.revision,
    requestedBy: requestedBy.id,
    ...judgingOf(run),
    waitingFor: waitingFor(run, now),
    editing: run.editing === null ? null : editingView(run.editing),
    parent: run.parent === null ? null : { runId: run.parent.runId, sequence: run.parent.sequence },
    tasks: [...run.tasks].map((task, index) => {
      const isHeldNow = task.status === 'PENDING' && held(index);
      const recoveredBy = recovered.get(task.star.id) ?? null;
      const make = (): TaskView => ({ ...taskView(task, isHeldNow, recoveredBy), ...severalOf(run, task) });
      if (known === undefined) return make();
      // What a task on several devices comes to follows from its parts: all that the run is.
      const several = task.star.forEach === undefined ? null : run;
      return known.tasks.of(index, [task, isHeldNow, recoveredBy, several], make);
    }),
    lines: [...run.graph.lines].map((line, index) => {
      const state = run.lines.at(index);
      const make = (): LineView => lineView(line, state);
      return known === undefined ? make() : known.lines.of(index, [line, state], make);
    }),
    approvals: approvalsOf(run),
    used: run.used,
    ...(budget === undefined ? {} : { budget }),
    goal,
    answer: run.answer,
    evaluation: run.evaluation,
    notes: run.notes.length === 0 ? null : [...run.notes],
    labels,
  };
}

/** Which exact commands of the run are judged before they run, and why, in one line; undefined where none is. */
export function judgingText(run: Run): string | undefined {
  const { options, judgeCommands, requestedBy } = requestOf(run);
  if (options.judge === 'all') return 'every exact command: the request or the system wants it so';
  const exact = [...run.tasks].filter(({ star }) => !isAgentTask(star));
  const judged = exact.filter((task) => task.judged).map(({ star }) => star.id);
  const which = judged.length === exact.length ? 'every exact command' : `the commands of ${listOfIds(judged)}`;
  if (judgeCommands === true) {
    const who = run.parent === null ? requestedBy.id : 'who asked for the run that it goes on from';
    return `${which}: ${who} was no operator${run.parent === null ? ' when it was requested' : ''}`;
  }
  return judged.length === 0 ? undefined : `${which}: a model may have written them, or somebody who is no operator`;
}

function judgingOf(run: Run): Pick<RunView, 'judging'> {
  const judging = judgingText(run);
  return judging === undefined ? {} : { judging };
}

export function summaryOf(run: Run): RunSummary {
  const { requestedBy, labels } = requestOf(run);
  const head = { ...headOf(run), requestedBy: requestedBy.id, tasks: run.tasks.length };
  return { ...head, ...(labels && { labels }), used: run.used };
}

/** A ready task that no connected device can take, as a person is told about it. */
export interface StrandedTask {
  readonly taskId: TaskId;
  readonly since: Instant;
  readonly text: string;
}

/** Those of a run that has not ended. */
export function strandedOf(run: Run): StrandedTask[] {
  if (isTerminal(run)) return [];
  return [...run.stranded].flatMap((index) => {
    const task = run.tasks.at(index);
    const text = waitText(run, task);
    return task.deviceWait === null || text === undefined
      ? []
      : [{ taskId: task.star.id, since: task.deviceWait.since, text }];
  });
}

/**
 * Why a run is not terminal and what wakes it; null when it is terminal. `now`, in milliseconds since the epoch, tells a wait
 * that is over from one that is not; without it what is recorded is taken as it is.
 */
export function waitingFor(run: Run, now?: number): WaitingFor | null {
  if (isTerminal(run) || run.phase === 'NONE') return null;
  if (run.approvals.open.size > 0) return waitingForPersons(run);
  if (run.running.size > 0) return waitingForBudget(run) ?? waitingForTasks(run);
  if (run.waitsFor !== null && run.editing !== null) return waitingForPlanner(run.editing);
  if (run.phase === 'PAUSED') {
    const reason = run.waitsFor === null ? 'paused' : 'approval';
    const detail = run.waitsFor === null ? run.reason : `approval of the plan${planProgress(run)}`;
    return { reason, detail, wokenBy: 'operator', wakesAt: run.deadlineAt };
  }
  const startable = [...run.ready].filter(not(isHeld(run))).map((index) => run.tasks.at(index));
  const purse = new Purse(run);
  // What lacks a part of the budget gets it back from the planner: nobody else has one.
  const isPlanned = run.editing !== null && startable.every(({ star }) => purse.lacking(star).length > 0);
  if (run.editing !== null && isPlanned) return waitingForPlanner(run.editing);
  const ids = listOfIds(startable.map(({ star }) => star.id));
  const delayed = startable.filter(({ notBefore }) => notBefore !== null && Date.parse(notBefore) > (now ?? -Infinity));
  if (startable.length > 0 && delayed.length === startable.length) {
    const wakesAt = earliest(delayed.map(({ notBefore }) => notBefore));
    return { reason: 'backoff', detail: `the next try of ${ids}`, wokenBy: 'timer', wakesAt };
  }
  const waves = startable.length === 0 ? wavesAhead(run, now) : [];
  if (waves.length > 0) {
    const wakesAt = earliest(waves.map(({ at }) => at));
    return { reason: 'next_wave', detail: listOfIds(waves.map(({ text }) => text)), wokenBy: 'timer', wakesAt };
  }
  const stranded = startable.flatMap((task) => waitText(run, task) ?? []);
  const detail =
    stranded.length > 0
      ? `a device that takes ${listOfIds(stranded)}`
      : `a connected device with a free slot for ${ids}`;
  return { reason: 'device', detail, wokenBy: 'fleet', wakesAt: earliest([...dueWaits(run), run.deadlineAt]) };
}

/** Tasks on several devices that pause between two waves: `update, wave 3 of 10`. */
function wavesAhead(run: Run, now = 0): { readonly text: string; readonly at: string }[] {
  return [...run.fanOuts].filter(not(isHeld(run))).flatMap((index) => {
    const task = run.tasks.at(index);
    const view = fanOutView(run, task, now);
    if (view === undefined || view.nextWaveAt === null) return [];
    return [{ text: `${task.star.id}, wave ${view.wave + 1} of ${view.waves}`, at: view.nextWaveAt }];
  });
}

/** What there is besides of a task on several devices, and of one of its devices. It works while some of them do. */
function severalOf(run: Run, task: TaskState): Partial<Pick<TaskView, 'fanOut' | 'part' | 'status'>> {
  if (task.part !== null) return { part: task.part };
  const fanOut = fanOutView(run, task, 0);
  if (fanOut === undefined) return {};
  return { fanOut, ...(task.status === 'PENDING' ? { status: 'RUNNING' as const } : {}) };
}

/** ` (1 of 2, by anna)`, where it takes more than one. */
function planProgress(run: Run): string {
  const needed = neededOf(run);
  return needed === 1
    ? ''
    : ` (${countText(
        planTally(run, undefined).map((by) => ({ by })),
        needed,
      )})`;
}

/** A person has to speak; the end of what else runs changes things, too, and is said. */
function waitingForPersons(run: Run): WaitingFor {
  const open = [...run.approvals.open.values()];
  const asks = open.map((request) => {
    const { taskId, ask } = request;
    if (ask.kind === 'question') return `an answer for ${taskId} (${ask.approvalId})`;
    const progress = progressText(run, request);
    const more = progress === undefined ? '' : `; ${progress}`;
    return `approval of ${ask.command.tool} for ${taskId} on ${ask.deviceId} (${ask.approvalId}${more})`;
  });
  const asking = new Set(open.map(({ taskId }) => taskId));
  const others = run.running.size - asking.size;
  const more = others > 0 ? `; and the end of ${others === 1 ? 'another task' : `${others} other tasks`}` : '';
  const wakesAt = earliest([...open.map(({ ask }) => ask.expiresAt), ...dueOf(run)]);
  return { reason: 'approval', detail: `${listOfIds(asks)}${more}`, wokenBy: 'operator', wakesAt };
}

/** What those that run may give back of the budget; undefined when no task waits for that. */
function waitingForBudget(run: Run): WaitingFor | undefined {
  if (run.request?.options.budget === undefined || run.phase !== 'RUNNING' || run.ending !== null) return undefined;
  const purse = new Purse(run);
  const ready = [...run.ready].filter(not(isHeld(run))).map((index) => run.tasks.at(index).star);
  const short = ready.filter((star) => purse.lacking(star).length > 0);
  if (short.length === 0) return undefined;
  const detail = `what running tasks leave of the budget for ${listOfIds(short.map(({ id }) => id))}`;
  return { reason: 'budget', detail, wokenBy: 'attempt', wakesAt: earliest(dueOf(run)) };
}

function waitingForTasks(run: Run): WaitingFor {
  const running = [...run.running].map((index) => run.tasks.at(index));
  const names = running.slice(0, 5).map(({ star, deviceId }) => `${star.id} on ${deviceId ?? '?'}`);
  const more = running.length > 5 ? ` and ${running.length - 5} more` : '';
  const detail = `the end of ${names.join(', ')}${more}`;
  if (run.phase === 'PAUSED' && run.waitsFor === null) {
    const after = `${detail}, and then for somebody who lets it go on: ${run.reason}`;
    return { reason: 'running_tasks', detail: after, wokenBy: 'attempt', wakesAt: earliest(dueOf(run)) };
  }
  return { reason: 'running_tasks', detail, wokenBy: 'attempt', wakesAt: earliest(dueOf(run)) };
}

/** When what runs is stopped, or is given up after a stop. */
function dueOf(run: Run): (string | null)[] {
  return [...run.running].map((index) => {
    const { stopping, timeoutAt } = run.tasks.at(index);
    return stopping?.graceUntil ?? timeoutAt;
  });
}

function waitingForPlanner({ editId, mode, triggers, deadlineAt }: Editing): WaitingFor {
  const about = triggers.map((trigger) => (trigger.kind === 'task' ? trigger.taskId : triggersText([trigger])));
  const what = mode === 'creation' ? 'a plan' : `an edit about ${listOfIds(about)}`;
  return { reason: 'planner', detail: `${what} (round ${editId})`, wokenBy: 'proposal', wakesAt: deadlineAt };
}

function not(predicate: (index: number) => boolean): (index: number) => boolean {
  return (index) => !predicate(index);
}

function editingView(editing: Editing): EditingView {
  const { editId, mode, triggers, tries, violations, lockPolicy, openedAt, deadlineAt } = editing;
  return {
    editId,
    mode,
    triggers: [...triggers],
    tries,
    violations: [...violations],
    lockPolicy,
    openedAt,
    deadlineAt,
  };
}

function approvalsOf(run: Run): ApprovalView[] {
  const { open, decided } = run.approvals;
  if (open.size === 0 && decided.length === 0) return [];
  return [...decided, ...open.values()].toSorted((a, b) => a.order - b.order).map((one) => approvalView(run, one));
}

function approvalView(run: Run, approval: OpenApproval | DecidedApproval): ApprovalView {
  const { taskId, attempt, ask, requestedAt } = approval;
  const { approvalId } = ask;
  const asked = { approvalId, runId: run.runId, taskId, attempt, ask, requestedAt, ...wordsOf(run, approval) };
  if (!('state' in approval))
    return { ...asked, state: 'open', by: null, note: null, decidedAt: null, grantUntil: null };
  const { state, by, note, decidedAt, grantUntil, approvedBy, selfApproved, wall } = approval;
  const whose = { ...(approvedBy && { approvedBy: [...approvedBy] }), ...(selfApproved && { selfApproved }) };
  return { ...asked, state, by, note, decidedAt, grantUntil, ...whose, ...(wall && { wall }) };
}

/** How many words it takes, and whose there are; nothing where one is enough and was enough. */
function wordsOf(run: Run, { ask, given, approvers }: OpenApproval): Partial<ApprovalView> {
  const needed = neededOf(run);
  const some = given.map(({ by, givenAt, command, wall }): GivenView => {
    const editor = editorOf(given, command);
    const counts = countsIn(run, by, undefined) && (editor === undefined || !sameActor(editor, by));
    return { by, givenAt, command, counts, ...(wall && { wall }) };
  });
  return {
    ...(needed > 1 && ask.kind === 'approval' && { needed }),
    ...(approvers !== null && { approvers }),
    ...(some.length > 0 && { given: some }),
  };
}

function headOf(run: Run) {
  const request = requestOf(run);
  const named = run.graph.name; // a plan that was made of single tasks has no name of its own
  return {
    runId: run.runId,
    requestId: request.requestId,
    name: named === '' ? (request.goal ?? request.requestId) : named,
    status: statusOf(run),
    outcome: run.outcome,
    sequence: run.sequence,
    requestedAt: request.requestedAt,
    endedAt: run.endedAt,
  };
}

function statusOf(run: Run): RunStatus {
  if (run.phase === 'NONE' || (run.phase === 'RUNNING' && !hasPlan(run))) return 'PLANNING';
  if (run.phase !== 'RUNNING') return run.phase;
  return run.running.size > 0 ? 'RUNNING' : 'WAITING';
}

function requestOf(run: Run): NonNullable<Run['request']> {
  if (run.request === null) throw new Error(`run ${run.runId} has no RUN_REQUESTED`);
  return run.request;
}

function lineView(
  { id, from, to, type, condition }: TaskStarLine,
  { satisfied, reason: why, undecided }: LineState,
): LineView {
  const reason = undecided === true ? `${UNDECIDED}${why ?? 'nobody can say'}` : why;
  return { id, from, to, type, condition: condition ?? null, satisfied, reason };
}

function taskView(task: TaskState, held: boolean, recoveredBy: TaskId | null): TaskView {
  const { star, status, attempt, deviceId, result, error, reason, startedAt, endedAt } = task;
  const { id, name } = star;
  const became = { status, attempts: attempt, device: deviceId, result, error, reason, held, recoveredBy };
  return { id, name, ...became, startedAt, endedAt };
}

function earliest(instants: readonly (string | null | undefined)[]): string | null {
  // RFC 3339 in UTC with milliseconds sorts as text.
  return instants.reduce<string | null>((least, at) => (at && (least === null || at < least) ? at : least), null);
}

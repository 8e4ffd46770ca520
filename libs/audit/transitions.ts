import { isDeepStrictEqual } from 'node:util';
import {
  type TaskEnding,
  boardOf,
  endsTheRun,
  filled,
  filledCheck,
  isCurrentAttempt,
  findTask,
  hasUndone,
  hasNotDelivered,
  isHeld,
  mustJudge,
  readsModelText,
  isTerminal,
  Judge,
  judgeLine,
  KnownTruths,
  type LineState,
  recoveriesOf,
  type Run,
  type TaskState,
  undecidedInto,
} from '#libs/constellation';
import {
  LIMITS,
  type LineId,
  type LineResult,
  type RecordedRunEvent,
  type RunEventData,
  type TaskStatus,
} from '#proto';
import { illegalAcceptance, illegalForApprovals, type ApprovalEvent } from './approvals.js';
import { illegalForRounds } from './rounds.js';
import { illegalWave, unfinished, unstopped } from './fan-outs.js';

/** What is recorded of a run that has ended. */
const AFTER_THE_END: ReadonlySet<string> = new Set(['RUN_ANNOTATED', 'WORKSPACE_DISCARDED', 'RUN_REOPENED']);

/**
 * Whether a recorded event may follow the state it meets: the table of the run's states, checked again by somebody who
 * does not trust the writer. A fold says nothing about that, it takes facts as they are. Undefined when all is well.
 */
export function illegal(run: Run, event: RecordedRunEvent): string | undefined {
  if (event.type === 'RUN_REQUESTED') return run.phase === 'NONE' ? undefined : 'the run is requested a second time';
  if (event.type === 'RUN_FORKED') return run.phase === 'NONE' ? undefined : 'RUN_FORKED is not the first event';
  if (run.phase === 'NONE') return `${event.type} comes before RUN_REQUESTED or RUN_FORKED`;
  if (isTerminal(run) && !AFTER_THE_END.has(event.type)) {
    return `${event.type} comes after the end of the run`;
  }
  switch (event.type) {
    case 'CONSTELLATION_MODIFIED':
    case 'EDIT_OPENED':
    case 'EDIT_REJECTED':
    case 'EDIT_ABANDONED':
      return illegalForRounds(run, event);
    case 'RUN_COMPLETED':
    case 'RUN_FAILED':
    case 'RUN_CANCELLED':
      return illegalEnd(run, event);
    case 'APPROVAL_REQUESTED':
    case 'APPROVAL_GIVEN':
    case 'APPROVAL_DECIDED':
      return illegalForApprovals(run, event);
    case 'RUN_PAUSED':
    case 'PLAN_ACCEPTED':
    case 'RUN_RESUMED':
    case 'RUN_REOPENED':
      return illegalTurn(run, event);
    case 'TASKS_WAITING':
      return illegalWaits(run, event.data);
    case 'WORDS_SAID':
      return illegalWords(run, event.data);
    case 'BOARD_WRITTEN':
      return illegalWrite(run, event.data);
    case 'WORKSPACE_DISCARDED':
      return illegalDiscard(run, event.data);
    case 'RUN_ANNOTATED':
      return illegalAnnotation(run, event);
    default:
      return illegalForTask(run, event);
  }
}

type TurnEvent = Extract<RecordedRunEvent, { type: 'RUN_PAUSED' | 'RUN_RESUMED' | 'RUN_REOPENED' | 'PLAN_ACCEPTED' }>;

function illegalTurn(run: Run, event: TurnEvent): string | undefined {
  switch (event.type) {
    case 'RUN_PAUSED':
      if (event.data.by === 'operator' && event.data.actor === undefined) return 'RUN_PAUSED does not say who did it';
      if (run.phase === 'PAUSED') return 'RUN_PAUSED: the run is paused already';
      if (event.data.waitsFor === undefined) return undefined;
      return run.request?.options.plan === 'approve' ? undefined : 'RUN_PAUSED: nobody wanted to see the plan';
    case 'RUN_RESUMED':
      if (run.phase !== 'PAUSED') return 'RUN_RESUMED: the run is not paused';
      return run.waitsFor === null ? undefined : prefixed('RUN_RESUMED', illegalAcceptance(run, event.data));
    case 'PLAN_ACCEPTED':
      if (run.waitsFor === null) return 'PLAN_ACCEPTED: no plan waits';
      if (event.data.revision !== run.revision) return 'PLAN_ACCEPTED: it is for another revision of the plan';
      return event.data.by.kind === 'person' ? undefined : `PLAN_ACCEPTED: ${event.data.by.id} is no person`;
    case 'RUN_REOPENED':
      return isTerminal(run) ? undefined : 'RUN_REOPENED: the run has not ended';
  }
}

const prefixed = (type: string, problem: string | undefined): string | undefined =>
  problem === undefined ? undefined : `${type}: ${problem}`;

/** Only what is ready begins to wait for a device, in a run that goes on, and only who waits can wait no more. */
function illegalWaits(run: Run, { began, over, why = [] }: RunEventData<'TASKS_WAITING'>): string | undefined {
  if (run.phase === 'PAUSED') return 'TASKS_WAITING: the run is paused';
  const isStranded = (id: string): boolean => (findTask(run, id)?.deviceWait ?? null) !== null;
  const isReady = (id: string): boolean => run.ready.has(run.graph.taskIndex.get(id) ?? -1);
  const unready = began.find((id) => !isReady(id) || isStranded(id));
  if (unready !== undefined) return `TASKS_WAITING: ${unready} is not ready, or waits already`;
  const stranger = why.flatMap(({ tasks }) => tasks).find((id) => !began.includes(id));
  if (stranger !== undefined) return `TASKS_WAITING: it says why ${stranger} waits, which does not begin to`;
  const other = over.find((id) => !isStranded(id));
  return other === undefined ? undefined : `TASKS_WAITING: ${other} does not wait for a device`;
}

/** They count from 1, and are said to a run that goes on. */
function illegalWords({ words, ending }: Run, { number }: RunEventData<'WORDS_SAID'>): string | undefined {
  if (ending !== null) return 'WORDS_SAID: the run is about to end';
  const next = words.length + 1;
  return number === next ? undefined : `WORDS_SAID: they have the number ${number}, the next one is ${next}`;
}

/** Writes count from 1, an attempt writes while it runs, and only what stands there is taken off. */
function illegalWrite(run: Run, { name, value, revision, attempt }: RunEventData<'BOARD_WRITTEN'>): string | undefined {
  if (isTerminal(run)) return 'BOARD_WRITTEN: the run has ended';
  const next = run.board.revision + 1;
  if (revision !== next) return `BOARD_WRITTEN: it has the revision ${revision}, the next one is ${next}`;
  if (value === undefined && !run.board.entries.has(name)) return `BOARD_WRITTEN: nothing stands under ${name}`;
  if (attempt === undefined) return undefined;
  const task = findTask(run, attempt.taskId);
  const isRunning = task !== undefined && isCurrentAttempt(task, attempt.attempt);
  return isRunning ? undefined : `BOARD_WRITTEN: attempt ${attempt.attempt} of ${attempt.taskId} does not run`;
}

function illegalDiscard(run: Run, { deviceId }: RunEventData<'WORKSPACE_DISCARDED'>): string | undefined {
  if (!isTerminal(run)) return 'WORKSPACE_DISCARDED: the run has not ended';
  return run.workspaces.has(deviceId) ? undefined : `WORKSPACE_DISCARDED: the run had no directory on ${deviceId}`;
}

type Annotation = Extract<RecordedRunEvent, { type: 'RUN_ANNOTATED' }>;

function illegalAnnotation(run: Run, { data }: Annotation): string | undefined {
  if (data.kind === 'evaluation') return isTerminal(run) ? undefined : 'RUN_ANNOTATED: the run has not ended';
  if (data.taskId === undefined || findTask(run, data.taskId) !== undefined) return undefined;
  return `RUN_ANNOTATED is about "${data.taskId}", which is no task of this run`;
}

type TaskEvent = Exclude<Extract<RecordedRunEvent, { data: { taskId: string } }>, ApprovalEvent | Annotation>;

function illegalForTask(run: Run, event: TaskEvent): string | undefined {
  const task = findTask(run, event.data.taskId);
  if (task === undefined) return `${event.type} is about "${event.data.taskId}", which is no task of this run`;
  const problem = problemOf(run, task, event);
  return problem === undefined ? undefined : `${event.type} of ${task.star.id}: ${problem}`;
}

function problemOf(run: Run, task: TaskState, event: TaskEvent): string | undefined {
  switch (event.type) {
    case 'TASK_STARTED':
      return illegalStart(run, task, event);
    case 'FAN_OUT_STARTED':
    case 'WAVE_STARTED':
      return illegalWave(run, task, event);
    case 'TASK_COMPLETED':
      return (
        unfinished(run, task, event) ??
        otherAttempt(task, event.data.attempt) ??
        refuted(run, event.data.lines, { status: 'COMPLETED', result: event.data.result })
      );
    case 'TASK_STOP_REQUESTED':
      return unless(task, ['RUNNING']) ?? otherAttempt(task, event.data.attempt) ?? stoppedBefore(task, event);
    case 'TASK_FAILED':
      return (
        unless(task, ['RUNNING', 'PENDING']) ??
        otherAttempt(task, event.data.attempt) ??
        refuted(run, event.data.lines, { status: 'FAILED', result: event.data.error.output ?? null }) ??
        undecidable(run, task, event) ??
        tooSoon(run, task, event)
      );
    case 'TASK_CANCELLED':
      return (
        unless(task, ['PENDING', 'RUNNING']) ?? otherAttempt(task, event.data.attempt) ?? unasked(run, task, event)
      );
    case 'TASK_SKIPPED': {
      const { lineId } = event.data;
      const chosen = linesInto(run, task).some(
        ({ id, satisfied, undecided }) => id === lineId && satisfied === false && undecided !== true,
      );
      return unless(task, ['PENDING']) ?? (chosen ? held(run, task) : `line ${lineId} is not known to be unsatisfied`);
    }
    case 'TASK_REOPENED':
      return illegalReopening(run, task, event);
  }
}

/** A truth that the event itself refutes. One that rests on more than it holds is not judged here, and neither is a doubt. */
function refuted(run: Run, lines: readonly LineResult[], ending: TaskEnding): string | undefined {
  const { graph } = run;
  for (const { id, satisfied, undecided } of lines) {
    const index = graph.lineIndex.get(id);
    const line = index === undefined ? undefined : graph.lines.at(index);
    if (line === undefined || undecided === true) continue;
    const judged = judgeLine(line, { board: boardOf(run), ...ending }, new Judge(new KnownTruths()));
    if (judged === undefined || judged.undecided === true || judged.satisfied === satisfied) continue;
    return `line ${id} is ${satisfied ? '' : 'not '}satisfied, it says, and its own result says otherwise`;
  }
  return undefined;
}

/** A task that nobody knows whether it may run: some line into it is undecided, none is known to forbid it, and no edit may save it. */
function undecidable(run: Run, task: TaskState, { data }: EventOf<'TASK_FAILED'>): string | undefined {
  if (data.error.code !== 'CONDITION_UNDECIDABLE' || task.status !== 'PENDING') return undefined;
  if (undecidedInto(run, run.graph.taskIndex.get(task.star.id) ?? -1) !== undefined) return held(run, task);
  return 'no line into it is undecided, or one is known not to be satisfied';
}

type EventOf<T extends TaskEvent['type']> = Extract<TaskEvent, { type: T }>;

function illegalStart(run: Run, task: TaskState, { data }: EventOf<'TASK_STARTED'>): string | undefined {
  if (data.attempt !== task.attempt + 1) return `attempt ${data.attempt} follows ${task.attempt}`;
  if (!isDeepStrictEqual(data.command, task.star.command && filled(run, task.star.command)))
    return 'the command is not that of the task';
  if ((data.command === undefined) !== (data.agent !== undefined)) return 'it needs a command or an agent, one of both';
  if (!isDeepStrictEqual(data.verify, task.star.verify && filledCheck(run, task.star.verify)))
    return 'the post-condition is not that of the task';
  if (!isDeepStrictEqual(data.files?.out, task.star.files?.out)) return 'the files it leaves are not those of the task';
  // Once a command that reads what a model wrote was started like any other: such a start is believed.
  const reads = data.judge === true && readsModelText(run, task.star.id);
  if (!reads && (data.judge === true) !== mustJudge(run, task)) {
    return mustJudge(run, task)
      ? 'it was to be judged, and is started unjudged'
      : 'it is judged, and who wrote it is trusted';
  }
  const unsatisfied = linesInto(run, task).filter(({ satisfied }) => satisfied !== true);
  if (unsatisfied.length > 0) return `line ${unsatisfied[0]?.id ?? '?'} is not satisfied`;
  if (run.phase === 'PAUSED') return 'the run is paused';
  if (run.ending !== null) return 'the run is about to end';
  if (task.notBefore !== null && data.startedAt < task.notBefore) return `it may not start before ${task.notBefore}`;
  return unless(task, ['PENDING']) ?? held(run, task) ?? strangeInput(run, [...data.inputs, ...(data.files?.in ?? [])]);
}

/** The lock: what an edit may still change is left as it is. */
function held(run: Run, { star }: TaskState): string | undefined {
  if (!isHeld(run)(run.graph.taskIndex.get(star.id) ?? -1)) return undefined;
  const by = run.editing === null ? 'a round that is owed' : `the open round ${run.editing.editId}`;
  return `it is held by ${by}`;
}

type AttemptNamed = Pick<EventOf<'TASK_STARTED'>['data']['inputs'][number], 'taskId' | 'attempt' | 'runId'>;

/** An input is the last attempt of its task, in the run that made it: this one, or one that this was forked from. */
function strangeInput(run: Run, inputs: readonly AttemptNamed[]): string | undefined {
  for (const { taskId, attempt, runId = null } of inputs) {
    const source = findTask(run, taskId);
    if (source === undefined) return `it takes the output of "${taskId}", which is no task of this run`;
    if (source.attempt !== attempt)
      return `it takes attempt ${attempt} of ${taskId}, the last one is ${source.attempt}`;
    if (source.ranIn !== runId)
      return `it takes the output of ${taskId} in ${where(runId)}, but it ran in ${where(source.ranIn)}`;
  }
  return undefined;
}

const where = (runId: string | null): string => (runId === null ? 'this run' : `run ${runId}`);

/** A stop is asked for once, but for one that asks for more: another try, or the end of the run. */
function stoppedBefore({ stopping }: TaskState, { data }: EventOf<'TASK_STOP_REQUESTED'>): string | undefined {
  const anonymous = (data.reason === 'cancelled' || data.reason === 'retry') && data.by === undefined;
  if (anonymous) return 'it does not say who asked for it';
  if (stopping === null) return undefined;
  const more = endsTheRun(data.reason) || (data.reason === 'retry' && stopping.reason !== 'retry');
  if (more && !endsTheRun(stopping.reason)) return undefined;
  return `it was told to stop before (${stopping.reason})`;
}

/** It is given up for want of a device only after it has waited for one as long as the request says. */
function tooSoon({ request }: Run, { deviceWait }: TaskState, { data }: EventOf<'TASK_FAILED'>): string | undefined {
  if (data.error.code !== 'DEVICE_UNAVAILABLE' || data.attemptHash !== null) return undefined;
  const waitMs = request?.options.deviceWaitMs;
  const isDue =
    deviceWait !== null && waitMs !== undefined && Date.parse(data.failedAt) >= Date.parse(deviceWait.since) + waitMs;
  return isDue ? undefined : 'it has not waited for a device as long as it might';
}

function unasked(
  run: Run,
  { status, stopping, part }: TaskState,
  { data }: EventOf<'TASK_CANCELLED'>,
): string | undefined {
  if (status === 'PENDING' && data.reason === 'fan_out_stopped') return unstopped(run, part, data.cancelledAt);
  if (status === 'PENDING') {
    return endsTheRun(data.reason) ? undefined : `it has not started, and ${data.reason} does not end the run`;
  }
  if (stopping === null) return 'it runs and nobody asked it to stop';
  return stopping.reason === data.reason ? undefined : `it was told to stop for another reason (${stopping.reason})`;
}

function illegalReopening(run: Run, task: TaskState, { data }: EventOf<'TASK_REOPENED'>): string | undefined {
  const { attempt, reason, by, lines = [] } = data;
  const isIncomplete = task.status === 'COMPLETED' && reason === 'operator' && hasUndone(run, task);
  const status = isIncomplete ? undefined : unless(task, ['FAILED', 'SKIPPED', 'CANCELLED']);
  const number = otherAttempt(task, attempt);
  if (status !== undefined || number !== undefined) return status ?? number;
  if (run.ending !== null) return 'the run is about to end';
  if (reason === 'operator' && by === undefined) return 'it does not say who asked for it';
  if (reason === 'retry_policy') {
    const attempts = task.star.retry?.attempts ?? 1;
    if (task.status !== 'FAILED') return `it is ${task.status}, and a retry policy is for what FAILED`;
    const tries = attempt - task.unsent;
    if (tries >= attempts) return `its retry policy allows ${attempts} attempts, and there were ${tries}`;
  }
  if (reason === 'not_sent') {
    if (task.status !== 'FAILED' || task.error.sent !== false)
      return 'something of its last attempt may have been sent';
    if (task.unsent >= LIMITS.unsentAttemptsMax) return `it was not sent ${task.unsent} times already`;
  }
  const judged = new Set((data.judged ?? []).map(({ id }) => id));
  const wrong = lines.find((id) => !mayBeOpenAgain(run, task, id) && !(judged.has(id) && wasUndecided(run, task, id)));
  return wrong === undefined ? undefined : `line ${wrong} cannot be open again: what follows from it has happened`;
}

/** What could not be judged may be judged once more. */
function wasUndecided(run: Run, task: TaskState, lineId: LineId): boolean {
  return linesInto(run, task).some(({ id, undecided }) => id === lineId && undecided === true);
}

/** A line of the task to what has not run, or into it from what has not ended. */
function mayBeOpenAgain(run: Run, { star }: TaskState, lineId: LineId): boolean {
  const index = run.graph.lineIndex.get(lineId);
  const line = index === undefined ? undefined : run.graph.lines.at(index);
  if (line === undefined) return false;
  if (line.to === star.id) {
    const source = findTask(run, line.from)?.status;
    return source === 'PENDING' || source === 'RUNNING';
  }
  const target = findTask(run, line.to);
  const hasNotRun = target?.status === 'PENDING' || target?.status === 'SKIPPED' || target?.attempt === 0;
  return line.from === star.id && hasNotRun;
}

function unless({ status }: TaskState, allowed: readonly TaskStatus[]): string | undefined {
  return allowed.includes(status) ? undefined : `it is ${status}`;
}

function otherAttempt({ attempt }: TaskState, named: number): string | undefined {
  return named === attempt ? undefined : `it names attempt ${named}, the last one started is ${attempt}`;
}

function linesInto(run: Run, { star }: TaskState): ({ id: LineId } & LineState)[] {
  const { graph } = run;
  return graph.linesInto
    .at(graph.taskIndex.get(star.id) ?? -1)
    .map((line) => ({ id: graph.lines.at(line).id, ...run.lines.at(line) }));
}

type RunEnd = Extract<RecordedRunEvent, { type: 'RUN_COMPLETED' | 'RUN_FAILED' | 'RUN_CANCELLED' }>;

/** How a run must end when its end was begun before its plan was over. */
const ENDS = {
  cancelled: ['RUN_CANCELLED'],
  run_deadline: ['RUN_FAILED'],
  plan_failed: ['RUN_FAILED'],
  finished: ['RUN_COMPLETED', 'RUN_FAILED'],
} as const satisfies Record<string, readonly RunEnd['type'][]>;

function illegalEnd(run: Run, event: RunEnd): string | undefined {
  const { type, data } = event;
  const { PENDING, RUNNING, COMPLETED, FAILED, SKIPPED, CANCELLED } = run.counts;
  if (PENDING + RUNNING > 0) return `the run ends while ${PENDING + RUNNING} tasks have not ended`;
  if (run.editing !== null) return `the run ends while the edit round ${run.editing.editId} is open`;
  const { completed, failed, skipped, cancelled } = data.counts;
  const same = completed === COMPLETED && failed === FAILED && skipped === SKIPPED && cancelled === CANCELLED;
  if (!same) return 'the counts of the end are not those of the tasks';
  const expected: readonly string[] = Object.entries(ENDS).find(([reason]) => reason === run.ending?.reason)?.[1] ?? [];
  if (expected.length > 0 && !expected.includes(type)) return `${type}: the run was to end as ${run.ending?.reason}`;
  const unrecovered = unrecoveredOf(run);
  if (type === 'RUN_COMPLETED' && data.outcome === 'succeeded' && unrecovered.length > 0) {
    return `the outcome is succeeded, and ${unrecovered.length} tasks failed`;
  }
  return event.type === 'RUN_CANCELLED' ? undefined : keptBack(run, event.data.answer);
}

/** Tasks that failed, and that nothing did in their place that may stand for them. */
function unrecoveredOf(run: Run): TaskState[] {
  const recovered = recoveriesOf(run);
  return [...run.tasks].filter(({ star, status }) => status === 'FAILED' && !recovered.has(star.id));
}

/** An answer says of every task what was not done, however well it reads. */
function keptBack(run: Run, answer: Extract<RunEnd, { type: 'RUN_COMPLETED' }>['data']['answer']): string | undefined {
  if (answer === undefined) return undefined;
  const undone = [...run.tasks].filter(hasNotDelivered);
  const said = new Map(answer.failures.map(({ taskId, status }) => [taskId, status]));
  const kept = undone.slice(0, LIMITS.evidenceMax).find(({ star, status }) => said.get(star.id) !== status);
  if (kept !== undefined) return `the answer does not say that ${kept.star.id} is ${kept.status}`;
  const recovered = recoveriesOf(run);
  const claimed = answer.failures.find(({ taskId, recoveredBy }) => recovered.get(taskId) !== recoveredBy);
  if (claimed !== undefined)
    return `the answer says of ${claimed.taskId} that ${claimed.recoveredBy ?? 'nothing'} recovered it`;
  return said.size > undone.length ? 'the answer says of what was done that it was not' : undefined;
}

/** What the events of one commit owe each other: an end that is taken back for a task or for words, and a task that is stopped to be tried again. */
export function incomplete(events: readonly RecordedRunEvent[]): string | undefined {
  const reopened = (at: number, taskId?: string): boolean => {
    const next = events.slice(at + 1).find(({ type }) => type === 'TASK_REOPENED');
    return (
      next?.type === 'TASK_REOPENED' &&
      next.data.reason === 'operator' &&
      (taskId ?? next.data.taskId) === next.data.taskId
    );
  };
  for (const [at, event] of events.entries()) {
    if (event.type === 'RUN_REOPENED' && events[at + 1]?.type !== 'WORDS_SAID' && !reopened(at))
      return `event ${event.sequence}: RUN_REOPENED opens no task again`;
    if (event.type !== 'TASK_CANCELLED' || event.data.reason !== 'retry' || reopened(at, event.data.taskId)) continue;
    return `event ${event.sequence}: TASK_CANCELLED of ${event.data.taskId}: it was to be tried again and is not open`;
  }
  return undefined;
}

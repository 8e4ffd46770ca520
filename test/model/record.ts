import type { Edit, EditPolicy, LineId, LockPolicy, RunEvent, RunEventData, TaskId, TaskStarLine } from '#proto';
import type { FleetView, Input } from '#libs/constellation';
import {
  applied,
  cycleIn,
  type Entry,
  isDoomed,
  isLocked,
  isOver,
  isReady,
  type Ledger,
  newEntry,
  triggerName,
} from './ledger.js';

/** What a commit was decided for, and under which circumstances. */
export interface Occasion {
  readonly inputs: readonly Input[];
  readonly fleet: FleetView;
  readonly now: number;
  readonly lockPolicy: LockPolicy;
  readonly editPolicy: EditPolicy;
}

/** `name` is what a mutation test expects; the message is for whoever reads the trace. */
export interface Violation {
  readonly name:
    | 'I1_SINGLE_ATTEMPT'
    | 'I2_ACYCLIC'
    | 'I3_ONLY_PENDING'
    | 'I4_SEQUENCE'
    | 'I5_TRANSITIONS'
    | 'I8_FOLD'
    | 'I9_CONFLUENCE'
    | 'I12_WAITING'
    | 'LOCK'
    | 'FENCING'
    | 'DUPLICATE'
    | 'READINESS'
    | 'TRIGGERS'
    | 'ROUNDS'
    | 'STRUCTURE'
    | 'IDLE'
    | 'NOT_CLOSED'
    | 'THROWS'
    | 'DEADLOCK'
    | 'LIVELOCK';
  readonly message: string;
}

type Data<T extends RunEvent['type']> = RunEventData<T>;
type Report = (name: Violation['name'], message: string) => void;
type Draft = { -readonly [K in keyof Ledger]: Ledger[K] } & { tasks: Map<TaskId, Entry> };

/** Folds the events of one commit into the ledger and reports every event that must not follow from what is known. */
export function record(
  before: Ledger,
  events: readonly RunEvent[],
  occasion: Occasion,
): { readonly ledger: Ledger; readonly violations: readonly Violation[] } {
  const violations: Violation[] = [];
  const draft: Draft = { ...before, tasks: new Map(before.tasks) };
  const report: Report = (name, message) => void violations.push({ name, message });
  for (const event of events) recordOne(draft, event, occasion, report);
  draft.sequence += events.length;
  return { ledger: draft, violations };
}

/** A fork is another run: it may begin where one has ended. */
const AFTER_THE_END: ReadonlySet<string> = new Set(['RUN_ANNOTATED', 'RUN_REOPENED', 'RUN_FORKED']);

function recordOne(draft: Draft, event: RunEvent, occasion: Occasion, report: Report): void {
  if (draft.phase === 'ENDED' && !AFTER_THE_END.has(event.type)) {
    report('I5_TRANSITIONS', `${event.type} after the end of the run`);
  }
  switch (event.type) {
    case 'RUN_REQUESTED':
      draft.phase = 'RUNNING';
      draft.deadlineAt = Date.parse(event.data.deadlineAt);
      draft.lines = new Map(event.data.constellation?.lines.map((line) => [line.id, line]));
      for (const star of event.data.constellation?.tasks ?? []) {
        draft.tasks.set(star.id, newEntry(star, event.data.requestedAt));
      }
      if (event.data.constellation === null) draft.queued = ['goal'];
      return;
    case 'CONSTELLATION_MODIFIED':
      return modify(draft, event.data, report);
    case 'EDIT_OPENED':
    case 'EDIT_REJECTED':
    case 'EDIT_ABANDONED':
      return recordRound(draft, event, occasion, report);
    case 'TASK_STARTED':
      return start(draft, event.data, occasion, report);
    case 'TASK_COMPLETED':
    case 'TASK_FAILED':
    case 'TASK_CANCELLED':
      return end(draft, event, occasion, report);
    case 'TASK_STOP_REQUESTED':
    case 'TASK_REOPENED':
    case 'TASK_SKIPPED':
      return recordTask(draft, event, occasion, report);
    default:
      return recordRun(draft, event, occasion, report);
  }
}

/** Its plan has ended, and none of it completed. */
const NOTHING_DONE = 'NO_TASK_COMPLETED';

type RunWord = Extract<RunEvent, { type: `RUN_${string}` }>;

function recordRun(
  draft: Draft,
  event: Exclude<RunWord, { type: 'RUN_REQUESTED' }>,
  { now }: Occasion,
  report: Report,
): void {
  switch (event.type) {
    case 'RUN_COMPLETED':
    case 'RUN_FAILED':
    case 'RUN_CANCELLED': {
      for (const [id, { status }] of draft.tasks) {
        if (!isOver(status)) report('I5_TRANSITIONS', `${event.type} while ${id} is ${status}`);
      }
      if (draft.round !== null) report('ROUNDS', `${event.type} while round ${draft.round.editId} is open`);
      const isDone =
        event.type === 'RUN_COMPLETED' || (event.type === 'RUN_FAILED' && event.data.reason.code === NOTHING_DONE);
      const isAsked = !draft.ending && !draft.silent && now < draft.deadlineAt;
      if (isDone && isAsked && draft.queued.length > 0) {
        report('TRIGGERS', `${event.type} and nobody was asked about ${draft.queued.join(' ')}`);
      }
      Object.assign(draft, { phase: 'ENDED', ending: false, queued: [] });
      return;
    }
    case 'RUN_PAUSED':
      if (draft.phase !== 'RUNNING') report('I5_TRANSITIONS', 'paused twice');
      draft.phase = 'PAUSED';
      return;
    case 'RUN_RESUMED':
      if (draft.phase !== 'PAUSED') report('I5_TRANSITIONS', 'resumed without a pause');
      draft.phase = 'RUNNING';
      return;
    case 'RUN_REOPENED':
      if (draft.phase !== 'ENDED') report('I5_TRANSITIONS', 'reopened before its end');
      draft.phase = 'RUNNING';
      draft.deadlineAt = Date.parse(event.data.deadlineAt);
      return;
    case 'RUN_FORKED':
      return recordFork(draft, event.data);
    case 'RUN_ANNOTATED':
      return;
  }
}

/** The ledger goes on as that of the fork. What ran in the parent ends here as something of which nothing will be known. */
function recordFork(draft: Draft, { deadlineAt, forkedAt }: Data<'RUN_FORKED'>): void {
  const unknown = { reason: 'fork', graceUntil: -Infinity };
  for (const [id, entry] of draft.tasks) {
    const isPending = entry.status === 'PENDING';
    const due = isPending ? newEntry(entry.star, forkedAt).deadlineAt : entry.deadlineAt;
    const stopping = entry.status === 'RUNNING' ? unknown : null;
    draft.tasks.set(id, { ...entry, failedOn: [], stopping, deadlineAt: due });
  }
  const open = [...(draft.round?.triggers ?? []), ...draft.queued].filter((trigger) => trigger.includes('.'));
  const over = { round: null, queued: open, silent: false, rounds: 0, sequence: 0 };
  Object.assign(draft, { phase: 'RUNNING', ending: false, deadlineAt: Date.parse(deadlineAt), ...over });
}

function modify(draft: Draft, data: Data<'CONSTELLATION_MODIFIED'>, report: Report): void {
  const { edits, editId, state, try: tries = 0 } = data;
  if (edits !== undefined && edits.length > 0) restructure(draft, data, edits, report);
  if (editId === undefined) return;
  if (draft.round?.editId !== editId) report('ROUNDS', `an edit of round ${editId} was taken, which is not open`);
  else if (tries <= draft.round.tries) report('ROUNDS', `try ${tries} of round ${editId} was judged twice`);
  draft.round = null;
  draft.silent = false;
  if (state === 'FINISH' || state === 'FAIL') draft.ending = true;
}

function restructure(draft: Draft, data: Data<'CONSTELLATION_MODIFIED'>, edits: readonly Edit[], report: Report): void {
  const { stars, lines } = applied(draft, edits);
  const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);
  const before = draft.tasks;
  const isFrozen = (id: TaskId) => (before.get(id)?.status ?? 'PENDING') !== 'PENDING';
  for (const [id, { star, status }] of before) {
    if (status !== 'PENDING' && !same(stars.get(id), star))
      report('I3_ONLY_PENDING', `${id} is ${status} and was changed`);
  }
  const touched = (one: ReadonlyMap<LineId, TaskStarLine>, other: ReadonlyMap<LineId, TaskStarLine>) =>
    [...one.values()].filter((line) => isFrozen(line.to) && !same(other.get(line.id), line));
  for (const line of [...touched(lines, draft.lines), ...touched(draft.lines, lines)]) {
    report('I3_ONLY_PENDING', `line ${line.id} leads to ${line.to}, which is not PENDING, and was changed`);
  }
  draft.tasks = new Map(
    [...stars].map(([id, star]) => {
      const entry = before.get(id);
      return [id, entry === undefined ? newEntry(star, data.modifiedAt) : { ...entry, star }];
    }),
  );
  draft.lines = lines;
  const cycle = cycleIn(lines);
  if (cycle.length > 0) report('I2_ACYCLIC', `an edit made the cycle ${cycle.join(' -> ')}`);
}

type RoundWord = Extract<RunEvent, { type: `EDIT_${string}` }>;

function recordRound(draft: Draft, event: RoundWord, { now }: Occasion, report: Report): void {
  const { editId } = event.data;
  if (event.type !== 'EDIT_OPENED' && draft.round?.editId !== editId) {
    report('ROUNDS', `${event.type} of ${editId}, which is not open`);
  }
  switch (event.type) {
    case 'EDIT_OPENED': {
      const triggers = event.data.triggers.map(triggerName);
      if (draft.round !== null) report('ROUNDS', `round ${editId} was opened while ${draft.round.editId} is open`);
      if (draft.phase !== 'RUNNING' || draft.ending) report('ROUNDS', 'a round was opened and the run does not go on');
      const [asked, wanted] = [triggers.toSorted().join(' '), draft.queued.toSorted().join(' ')];
      if (asked !== (wanted === '' ? 'end-of-plan' : wanted)) {
        report('TRIGGERS', `round ${editId} asks about ${asked} where ${wanted} was to be asked about`);
      }
      if (wanted === '' && [...draft.tasks.values()].some(({ status }) => !isOver(status))) {
        report('TRIGGERS', 'the end of a plan was asked about that has not ended');
      }
      const { lockPolicy, deadlineAt } = event.data;
      draft.round = { editId, triggers, lockPolicy, tries: 0, deadlineAt: Date.parse(deadlineAt) };
      draft.queued = [];
      draft.rounds++;
      return;
    }
    case 'EDIT_REJECTED': {
      const { try: tries, lockPolicy } = event.data;
      if (draft.round === null) return;
      if (tries <= draft.round.tries) report('ROUNDS', `try ${tries} of ${editId} was refused twice`);
      draft.round = { ...draft.round, tries, lockPolicy };
      draft.silent = false;
      return;
    }
    case 'EDIT_ABANDONED':
      if (event.data.reason.code === 'DEADLINE') {
        if (now < (draft.round?.deadlineAt ?? 0)) report('ROUNDS', `${editId} was abandoned before its deadline`);
        draft.silent = true;
      }
      draft.round = null;
  }
}

/** A task starts when its lines allow it, nothing holds it, nobody runs it, and on a device that is there and has room. */
function start(draft: Draft, data: Data<'TASK_STARTED'>, occasion: Occasion, report: Report): void {
  const { taskId, attempt, deviceId, sessionId, timeoutAt } = data;
  const entry = draft.tasks.get(taskId);
  if (entry === undefined) return report('STRUCTURE', `${taskId} was started and is not there`);
  const { status, attempt: last, notBefore, lostSession } = entry;
  if (status !== 'PENDING') report('I1_SINGLE_ATTEMPT', `${taskId} was started while it is ${status}`);
  if (attempt !== last + 1) report('I1_SINGLE_ATTEMPT', `attempt ${attempt} of ${taskId} follows attempt ${last}`);
  if (draft.phase !== 'RUNNING' || draft.ending)
    report('I5_TRANSITIONS', `${taskId} was started in a run that does not go on`);
  if (isLocked(draft, taskId, occasion.lockPolicy)) report('LOCK', `${taskId} was started while the lock holds it`);
  if (!isReady(draft, taskId)) report('READINESS', `${taskId} was started before its lines are satisfied`);
  if (occasion.now < notBefore) report('READINESS', `${taskId} was started before its time`);
  const device = occasion.fleet.devices.get(deviceId);
  const load = [...draft.tasks.values()].filter(
    (other) => other.status === 'RUNNING' && other.deviceId === deviceId,
  ).length;
  if (device?.status !== 'connected' || device.session?.sessionId !== sessionId || load >= device.tasksMax) {
    report('I1_SINGLE_ATTEMPT', `${taskId} was given to ${deviceId}, which is away or has no slot`);
  }
  if (sessionId === lostSession) report('I1_SINGLE_ATTEMPT', `${taskId} was given to the session that it lost`);
  const started = { status: 'RUNNING', attempt, deviceId, sessionId, timeoutAt: Date.parse(timeoutAt) } as const;
  draft.tasks.set(taskId, { ...entry, ...started, stopping: null, lostSession: null });
}

type EndWord = Extract<RunEvent, { type: 'TASK_COMPLETED' | 'TASK_FAILED' | 'TASK_CANCELLED' }>;

/** A task ends by the word of the attempt that runs, by the grace of a stop, or without an attempt. */
function end(draft: Draft, event: EndWord, occasion: Occasion, report: Report): void {
  const { taskId, attempt } = event.data;
  const entry = draft.tasks.get(taskId);
  if (entry === undefined) return report('STRUCTURE', `${taskId} has ended and is not there`);
  const { status, attempt: current, stopping, deadlineAt, deviceId, sessionId } = entry;
  if (isOver(status)) report('I5_TRANSITIONS', `${event.type} of ${taskId}, which is ${status}`);
  if (attempt !== current)
    report('FENCING', `${event.type} of attempt ${attempt} of ${taskId}, whose last one is ${current}`);
  const word = event.type === 'TASK_COMPLETED' ? 'completed' : 'failed';
  const reported = occasion.inputs.some(
    (input) =>
      input.kind === 'attempt-ended' &&
      input.taskId === taskId &&
      input.attempt === current &&
      input.finished.status === word,
  );
  const isUp = stopping !== null && occasion.now >= stopping.graceUntil && word === 'failed';
  if (status === 'RUNNING' && !reported && !isUp) {
    report('FENCING', `${event.type} of ${taskId}: nothing is known of the end of attempt ${current}, which runs`);
  }
  if (status === 'PENDING' && event.type === 'TASK_COMPLETED')
    report('I5_TRANSITIONS', `${taskId} completed without a start`);
  if (status === 'PENDING' && event.type === 'TASK_FAILED' && occasion.now < deadlineAt) {
    report('I5_TRANSITIONS', `${taskId} failed without a start, before its deadline`);
  }
  const lost = event.type === 'TASK_FAILED' && event.data.error.outcome === 'device_lost' ? sessionId : null;
  const now = event.type.slice('TASK_'.length) as 'COMPLETED' | 'FAILED' | 'CANCELLED';
  const where = event.type === 'TASK_FAILED' && deviceId !== null ? [deviceId] : [];
  const failedOn = [...entry.failedOn, ...where];
  draft.tasks.set(taskId, {
    ...entry,
    status: now,
    stopping: stopping?.reason === 'fork' ? stopping : null,
    lostSession: lost,
    failedOn,
  });
  if (event.type === 'TASK_CANCELLED') {
    if (event.data.reason !== 'retry') draft.ending = true;
    return;
  }
  const isAsked = event.type === 'TASK_FAILED' || entry.star.review === true || occasion.editPolicy === 'every-result';
  if (isAsked && occasion.editPolicy !== 'never' && !draft.ending)
    draft.queued = [...draft.queued, `${taskId}.${attempt}`];
}

type TaskWord = Extract<RunEvent, { type: 'TASK_STOP_REQUESTED' | 'TASK_REOPENED' | 'TASK_SKIPPED' }>;

function recordTask(draft: Draft, event: TaskWord, occasion: Occasion, report: Report): void {
  const { taskId } = event.data;
  const entry = draft.tasks.get(taskId);
  if (entry === undefined) return report('STRUCTURE', `${event.type} of ${taskId}, which is not there`);
  switch (event.type) {
    case 'TASK_STOP_REQUESTED': {
      const { reason, attempt, graceUntil } = event.data;
      if (entry.status !== 'RUNNING' || entry.attempt !== attempt)
        report('FENCING', `a stop of ${taskId}, which does not run`);
      draft.tasks.set(taskId, { ...entry, stopping: { reason, graceUntil: Date.parse(graceUntil) } });
      if (!['timeout', 'task_deadline', 'retry'].includes(reason)) draft.ending = true;
      return;
    }
    case 'TASK_REOPENED':
      if (entry.stopping?.reason === 'fork')
        report('FENCING', `${taskId} is tried again after a fork, and may still run`);
      if (!isOver(entry.status) || entry.status === 'COMPLETED') {
        report('I5_TRANSITIONS', `${taskId} was reopened while it is ${entry.status}`);
      }
      draft.tasks.set(taskId, {
        ...entry,
        status: 'PENDING',
        stopping: null,
        notBefore: Date.parse(event.data.notBefore),
        failedOn: event.data.reason === 'operator' ? [] : entry.failedOn,
      });
      draft.queued = draft.queued.filter((trigger) => !trigger.startsWith(`${taskId}.`));
      return;
    case 'TASK_SKIPPED':
      if (entry.status !== 'PENDING') report('I5_TRANSITIONS', `${taskId} was skipped while it is ${entry.status}`);
      if (isLocked(draft, taskId, occasion.lockPolicy)) report('LOCK', `${taskId} was skipped while the lock holds it`);
      if (!isDoomed(draft, taskId)) report('READINESS', `${taskId} was skipped and no line of it is unsatisfied`);
      draft.tasks.set(taskId, { ...entry, status: 'SKIPPED' });
  }
}

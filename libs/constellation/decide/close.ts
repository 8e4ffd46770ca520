import {
  type Budget,
  COMMAND_REFUSALS,
  DEFAULTS,
  type DeviceId,
  LIMITS,
  type RunEvent,
  type RunEventData,
  inputField,
  inputTask,
  StdinFrom,
  type TaskStar,
} from '#proto';
import { enforceApprovals } from './approvals.js';
import { type Circumstances, deadlinePassed, failAttempt, instantOf } from './attempt-end.js';
import {
  type Bound,
  isAgentTask,
  mayGetMore,
  Purse,
  doomOf,
  judgeLines,
  undecidedInto,
  graphOf,
  isTerminal,
  type Run,
  type TaskState,
} from '../state/index.js';
import { enforceEditDeadline } from './edit-cycle.js';
import { dueWaits, NOTHING_SEEN, noteWaits, type Seen, Waits, waitTriggers } from './device-wait.js';
import { abandonEdit, openEdit, openEditFor } from './edit-rounds.js';
import { beginToEnd, end, endAsItIs } from './ending.js';
import type { RunDraft } from '../fold/index.js';
import { type Assignment, assign, type FleetView } from '../edits/index.js';
import { positionOf, sourceOf } from '../plan/index.js';
import { isHeld } from './held.js';
import { jsonBytes } from '../values/index.js';

/** Waited for by a task for which no device is connected that would do. */
export const ANY_DEVICE = '*';

/** Starts beyond this go into the next commit, so that results and ends always fit into theirs. */
const STARTED_BYTES_MAX = 512 * 1024;
/** The same for skips, a wave at a time: one task that fails may doom all the others. */
const SKIPPED_BYTES_MAX = 512 * 1024;

export interface Closed {
  /** When the run must be looked at again, milliseconds since the epoch; null when it is terminal. */
  readonly wakeAt: number | null;
  readonly starvedOf: ReadonlySet<string>;
}

const OVER: Closed = { wakeAt: null, starvedOf: new Set() };

/** Adds all that follows from the state a draft has reached, until nothing more does, and says what the run waits for. */
export function close(draft: RunDraft, circumstances: Circumstances): Closed {
  if (draft.run.phase === 'NONE' || isTerminal(draft.run)) return OVER;
  enforceRunDeadline(draft, circumstances);
  enforceTaskDeadlines(draft, circumstances);
  enforceTimeouts(draft, circumstances);
  enforceApprovals(draft, circumstances);
  enforceEditDeadline(draft, circumstances);
  if (isTerminal(draft.run)) return OVER;
  let started: Started;
  let doomed: Doomed = { bytes: 0, failed: false, more: false };
  do {
    openEdit(draft, circumstances);
    const held = isHeld(draft.run);
    doomed = endDoomed(draft, held, doomed.bytes, circumstances);
    started = doomed.failed ? NOTHING_STARTED : startReady(draft, held, circumstances);
  } while (doomed.failed || (started.failed > 0 && !started.more));
  const { more } = doomed;
  noteWaits(draft, started.seen, circumstances.now);
  openEditFor(draft, waitTriggers(draft.run, started.seen, circumstances), circumstances.now);
  enforceBudget(draft, started, circumstances);
  end(draft, circumstances);
  if (isTerminal(draft.run)) return OVER;
  if (more || started.more) return { wakeAt: circumstances.now, starvedOf: started.starvedOf };
  return { wakeAt: wakeAt(draft.run, started, circumstances.now), starvedOf: started.starvedOf };
}

/** The run's deadline cancels what is pending and stops what is running; where every task has ended, nothing was late. */
function enforceRunDeadline(draft: RunDraft, { now }: Circumstances): void {
  if (draft.run.ending !== null || !deadlinePassed(draft.run, now)) return;
  abandonEdit(draft, { code: 'RUN_ENDING', message: 'the deadline of the run passed' }, now);
  const { graph, counts } = draft.run;
  if (graph !== null && counts.PENDING + counts.RUNNING === 0) endAsItIs(draft, now);
  else beginToEnd(draft, { reason: 'run_deadline', by: null, note: null }, now);
}

/** A task's own deadline covers all its tries: what waits fails, what runs is stopped. */
function enforceTaskDeadlines(draft: RunDraft, circumstances: Circumstances): void {
  const { now } = circumstances;
  if (draft.run.timed.size === 0) return;
  const at = instantOf(now); // RFC 3339 in UTC with milliseconds compares as text
  for (const index of Array.from(draft.run.timed)) {
    const { run } = draft;
    const { star, status, attempt, deadlineAt, stopping } = run.tasks.at(index);
    if (deadlineAt === null || at < deadlineAt) continue;
    if (status === 'RUNNING' && stopping === null) draft.add(stop(star.id, attempt, 'task_deadline', now));
    if (status !== 'PENDING') continue;
    const error = { code: 'DEADLINE', message: 'did not end before its deadline', outcome: 'timed_out' } as const;
    const lines = judgeLines(run, index, { status: 'FAILED', result: null }, draft.judge);
    draft.add({
      type: 'TASK_FAILED',
      data: { taskId: star.id, attempt, error, lines, failedAt: at, attemptHash: null },
    });
  }
}

function enforceTimeouts(draft: RunDraft, circumstances: Circumstances): void {
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

interface Doomed {
  /** Of the events so far. */
  readonly bytes: number;
  /** Some have failed: that may open a round, which may hold what hangs from them, and all is looked at again. */
  readonly failed: boolean;
  /** So many are doomed that the rest goes into the next commit. */
  readonly more: boolean;
}

/**
 * A task whose line can no longer be satisfied is skipped at once, and so is what hangs from it, unless an edit may save it.
 * One of which nobody can say whether it may run fails.
 */
function endDoomed(draft: RunDraft, held: (index: number) => boolean, spent: number, { now }: Circumstances): Doomed {
  for (let bytes = spent; ;) {
    const { run } = draft;
    const doomed = [...run.doomed].filter((index) => !held(index) && isSettled(run, index));
    if (doomed.length === 0) return { bytes, failed: false, more: false };
    if (bytes > SKIPPED_BYTES_MAX) return { bytes, failed: false, more: true };
    const events = doomed.map((index): RunEvent => {
      const undecided = undecidedInto(run, index);
      if (undecided !== undefined) return undecidable(draft, index, undecided, now);
      const { lineId, by, reason } = doomOf(run, index);
      const { star, result } = run.tasks.at(index);
      const lines = judgeLines(run, index, { status: 'SKIPPED', result }, draft.judge);
      const taskId = star.id;
      return { type: 'TASK_SKIPPED', data: { taskId, by, lineId, reason, lines, skippedAt: instantOf(now) } };
    });
    bytes += jsonBytes(events);
    draft.add(...events);
    if (events.some(({ type }) => type === 'TASK_FAILED')) return { bytes, failed: true, more: false };
  }
}

/** A task has to start, too little is left for it, and nobody runs or plans who could give some back: the run ends. */
function enforceBudget(draft: RunDraft, { short }: Started, { now }: Circumstances): void {
  if (short === null || mayGetMore(draft.run)) return;
  const note = `nothing is left of the budget (${short.bounds.join(', ')}) for task "${short.taskId}"`;
  abandonEdit(draft, { code: 'RUN_ENDING', message: 'the budget of the run is used up' }, now);
  beginToEnd(draft, { reason: 'budget', by: null, note }, now);
}

/** Of a task that waits for what is undecided alone, another line may still say no: whichever comes first, it comes to the same. */
function isSettled(run: Run, index: number): boolean {
  return run.tasks.at(index).linesOpen === 0 || undecidedInto(run, index) === undefined;
}

function undecidable(
  draft: RunDraft,
  index: number,
  { lineId, reason }: { readonly lineId: string; readonly reason: string },
  now: number,
): RunEvent {
  const { run } = draft;
  const { star, attempt } = run.tasks.at(index);
  const lines = judgeLines(run, index, { status: 'FAILED', result: null }, draft.judge);
  const message = `nobody can say whether line ${lineId} lets it run: ${reason}`;
  const error = { code: 'CONDITION_UNDECIDABLE', message, outcome: 'failed' } as const;
  return {
    type: 'TASK_FAILED',
    data: { taskId: star.id, attempt, error, lines, failedAt: instantOf(now), attemptHash: null },
  };
}

interface Started {
  /** Busy devices of which a ready task waits for a slot; ANY_DEVICE when it waits for one to connect. */
  readonly starvedOf: ReadonlySet<string>;
  /** A ready task could start but no longer fits into this commit. */
  readonly more: boolean;
  /** Tasks that can never be satisfied: they failed, so lines were judged and the commit is not closed yet. */
  readonly failed: number;
  /** When the circuit of a device may be tried; Infinity when none is waited for. */
  readonly until: number;
  /** The first ready task for which too little of the budget is left, and what. */
  readonly short: { readonly taskId: string; readonly bounds: readonly Bound[] } | null;
  readonly seen: Seen;
}

const NOTHING_STARTED: Started = {
  starvedOf: new Set(),
  more: false,
  failed: 0,
  until: Infinity,
  short: null,
  seen: NOTHING_SEEN,
};

function startReady(draft: RunDraft, held: (index: number) => boolean, { fleet, now }: Circumstances): Started {
  const { run } = draft;
  if (run.phase !== 'RUNNING' || run.ending !== null) return NOTHING_STARTED;
  const slots = new Slots(fleet, run);
  const purse = new Purse(run);
  // A wide constellation on a busy fleet has thousands of ready tasks with the same needs: one answer serves them all.
  const waits = new Waits(draft, { fleet, now });
  const starts: RunEvent[] = [];
  const failures: RunEvent[] = [];
  const starvedOf = new Set<string>();
  let [more, bytes, until] = [false, 0, Infinity];
  let short: Started['short'] = null;
  for (const index of inOrder(run)) {
    const task = run.tasks.at(index);
    if (held(index)) continue;
    if (task.notBefore !== null && now < Date.parse(task.notBefore)) continue;
    if (bytes > STARTED_BYTES_MAX) {
      more = true;
      break;
    }
    if (slots.left <= 0) {
      // A task of this run that ends is an input of it; what others end wakes whoever waits for any device.
      if (slots.isFleetFull) starvedOf.add(ANY_DEVICE);
      break;
    }
    const known = waits.ofNeed(task.need);
    const bounds = known === undefined ? purse.lacking(task.star) : [];
    if (bounds.length > 0) {
      short ??= { taskId: task.star.id, bounds };
      continue;
    }
    const avoid = { session: lostSession(task), failedOn: task.failedOn };
    const assignment = known ?? assign(task.star, slots, avoid);
    if (assignment.kind === 'never') {
      failures.push(neverSatisfiable(draft, index, assignment, now));
    } else if (assignment.kind === 'wait') {
      if (known === undefined) {
        for (const device of assignment.busy) starvedOf.add(device);
        if (assignment.busy.length === 0) starvedOf.add(ANY_DEVICE);
        until = Math.min(until, assignment.until ?? Infinity);
      }
      const end = waits.take(index, assignment, avoid);
      if (end === undefined) continue;
      bytes += jsonBytes(end);
      failures.push(end);
    } else {
      const event = start(run, index, { device: assignment.device, budget: purse.take(task.star) }, now);
      bytes += jsonBytes(event.data);
      slots.take(assignment.device.deviceId);
      starts.push(event);
    }
  }
  // A failure may open a round, which may hold what would start: it comes first, and then all is looked at again.
  const failed = failures.length;
  draft.add(...(failed > 0 ? failures : starts));
  return { starvedOf, more, failed, until, short, seen: waits.seen };
}

/** By priority, then first ready first; the sort is stable. */
function inOrder(run: Run): Iterable<number> {
  if (!run.prioritized) return run.ready;
  const priority = (index: number) => run.tasks.at(index).star.priority ?? 0;
  return [...run.ready].toSorted((a, b) => priority(b) - priority(a));
}

/** A session that ended under the last attempt, or before it: nothing starts on it any more. */
function lostSession({ error, sessionId }: TaskState): string | null {
  const isOver = error?.outcome === 'device_lost' || error?.code === COMMAND_REFUSALS.notSent;
  return isOver ? sessionId : null;
}

interface Given {
  readonly device: Extract<Assignment, { kind: 'device' }>['device'];
  readonly budget: Budget | undefined;
}

function start(run: Run, index: number, { device, budget }: Given, now: number) {
  const task = run.tasks.at(index);
  const { star } = task;
  const { session } = device;
  if (session === null) throw new Error(`device ${device.deviceId} was chosen without a session`);
  const timeoutMs = star.timeoutMs ?? DEFAULTS.taskTimeoutMs;
  return {
    type: 'TASK_STARTED',
    data: {
      taskId: star.id,
      attempt: task.attempt + 1,
      deviceId: device.deviceId,
      sessionId: session.sessionId,
      journalId: session.journalId,
      ...(star.command === undefined ? orderOf(run, star) : { command: star.command }),
      ...(task.judged ? { judge: true as const, ...approvalOf(run) } : {}),
      ...(star.verify === undefined ? {} : { verify: star.verify }),
      ...(budget === undefined ? {} : { budget }),
      inputs: inputsOf(run, index),
      priority: star.priority ?? 0,
      startedAt: instantOf(now),
      timeoutAt: instantOf(now + timeoutMs),
    },
  } as const satisfies RunEvent;
}

/** What the device's agent is asked to do, and how a person has a say in it. */
function orderOf(
  run: Run,
  { name, description, tips }: TaskStar,
): Pick<RunEventData<'TASK_STARTED'>, 'agent' | 'approval'> {
  return { agent: { name, description, tips, blackboard: [...run.blackboard] }, ...approvalOf(run) };
}

/** How a person has a say in what is judged. */
function approvalOf(run: Run): Pick<RunEventData<'TASK_STARTED'>, 'approval'> {
  const { approval = 'policy' } = run.request?.options ?? {};
  return approval === 'policy' ? {} : { approval };
}

/**
 * Predecessors whose outputs the task takes: those that its command names; where an agent does it, those that its inputs name,
 * and all of them without. Only of those of which it is known how they ended; skipped and cancelled ones have none.
 */
function inputsOf(run: Run, index: number): RunEventData<'TASK_STARTED'>['inputs'] {
  const graph = graphOf(run);
  const sources = sourcesOf(run, index);
  return sources.flatMap(({ position, field }) => {
    const taskId = graph.taskIds.at(position);
    const { status, attempt, error, ranIn } = run.tasks.at(position);
    if ((status !== 'COMPLETED' && status !== 'FAILED') || attempt === 0 || error?.outcome === 'unknown') return [];
    return [
      { taskId, attempt, ...(ranIn === null ? {} : { runId: ranIn }), ...(field === undefined ? {} : { field }) },
    ];
  });
}

interface Source {
  readonly position: number;
  /** Said for an agent only: what a command takes of its sources stands in its arguments. */
  readonly field?: string | undefined;
}

function sourcesOf(run: Run, index: number): readonly Source[] {
  const graph = graphOf(run);
  const { star } = run.tasks.at(index);
  if (isAgentTask(star)) {
    const named = star.inputs?.map((input) => ({
      position: positionOf(graph.taskIndex, inputTask(input)),
      field: inputField(input),
    }));
    const sources = named ?? graph.linesInto.at(index).map((line) => ({ position: sourceOf(graph, line) }));
    return [...new Map(sources.map((source) => [JSON.stringify(source), source])).values()];
  }
  const parsed = StdinFrom.safeParse(star.command?.arguments['stdin']);
  if (!parsed.success) return [];
  return parsed.data.from.map((input) => ({ position: positionOf(graph.taskIndex, inputTask(input)) }));
}

function neverSatisfiable(
  { run, judge }: RunDraft,
  index: number,
  { issue }: Extract<Assignment, { kind: 'never' }>,
  now: number,
): RunEvent {
  const { star, attempt } = run.tasks.at(index);
  const lines = judgeLines(run, index, { status: 'FAILED', result: null }, judge);
  const error = { code: issue.code, message: `${issue.path}: ${issue.message}`, outcome: 'failed' } as const;
  return {
    type: 'TASK_FAILED',
    data: { taskId: star.id, attempt, error, lines, failedAt: instantOf(now), attemptHash: null },
  };
}

/**
 * Nothing waits for ever: the earliest of timeouts, graces, retries, deadlines, the end of an edit round and a look at the
 * fleet; at most 1 h ahead.
 */
function wakeAt(run: Run, { starvedOf, until }: Started, now: number): number {
  let earliest: string | undefined;
  const at = (instant: string | null | undefined) => {
    if (instant && (earliest === undefined || instant < earliest)) earliest = instant;
  };
  for (const index of run.running) {
    const { stopping, timeoutAt } = run.tasks.at(index);
    at(stopping?.graceUntil ?? timeoutAt);
  }
  for (const index of run.ready) {
    const { notBefore } = run.tasks.at(index);
    if (notBefore !== null && Date.parse(notBefore) > now) at(notBefore);
  }
  for (const index of run.timed) {
    const { deadlineAt, stopping } = run.tasks.at(index);
    if (stopping === null) at(deadlineAt);
  }
  for (const due of dueWaits(run)) if (Date.parse(due) > now) at(due);
  for (const { ask } of run.approvals.open.values()) at(ask.expiresAt);
  at(run.editing?.deadlineAt);
  if (run.ending === null) at(run.deadlineAt);
  const look = now + (starvedOf.size > 0 ? LIMITS.waitingPollMs : LIMITS.wakeUpMsMax);
  return Math.min(until, look, earliest === undefined ? Infinity : Date.parse(earliest));
}

/** The fleet view with the run's own tasks counted in as they are by now: a slot that this commit frees is used in this commit. */
class Slots implements FleetView {
  readonly #fleet: FleetView;
  readonly #concurrency: number;
  readonly #taken = new Map<DeviceId, number>();
  #running = 0;

  constructor(fleet: FleetView, run: Run) {
    this.#fleet = fleet;
    this.#concurrency = run.request?.options.concurrency ?? Infinity;
    for (const index of run.running) {
      const { deviceId } = run.tasks.at(index);
      if (deviceId !== null) this.take(deviceId);
    }
  }

  get complete(): boolean {
    return this.#fleet.complete;
  }

  get watchedMs(): number {
    return this.#fleet.watchedMs;
  }

  get agents(): FleetView['agents'] {
    return this.#fleet.agents;
  }

  get devices(): FleetView['devices'] {
    return this.#fleet.devices;
  }

  get slotsLeft(): number {
    return this.#fleet.slotsLeft - this.#running;
  }

  get isFleetFull(): boolean {
    return this.slotsLeft <= 0;
  }

  /** Tasks this run may still start: by its own limit and by the fleet's. */
  get left(): number {
    return Math.min(this.slotsLeft, this.#concurrency - this.#running);
  }

  running(deviceId: DeviceId): number {
    return this.#fleet.running(deviceId) + (this.#taken.get(deviceId) ?? 0);
  }

  reserved(deviceId: DeviceId): number {
    return this.#fleet.reserved(deviceId);
  }

  circuit(deviceId: DeviceId): ReturnType<FleetView['circuit']> {
    return this.#fleet.circuit(deviceId);
  }

  take(deviceId: DeviceId): void {
    this.#taken.set(deviceId, (this.#taken.get(deviceId) ?? 0) + 1);
    this.#running++;
  }
}

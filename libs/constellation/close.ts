import { DEFAULTS, LIMITS, type RunEvent, type RunEventData, StdinFrom } from '#proto';
import { type Circumstances, deadlinePassed, failAttempt, instantOf } from './attempt-end.js';
import type { RunDraft } from './evolve.js';
import { type Assignment, assign, type FleetView } from './fleet-view.js';
import { doomOf, judgeLines } from './lines.js';
import { graphOf, isTerminal, type Run, type TaskState } from './run.js';

/** Waited for by a task for which no device is connected that would do. */
export const ANY_DEVICE = '*';

/** Starts beyond this go into the next commit, so that results and ends always fit into theirs. */
const STARTED_BYTES_MAX = 512 * 1024;

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
  enforceTimeouts(draft, circumstances);
  let started: Started;
  do {
    skipDoomed(draft, circumstances);
    started = startReady(draft, circumstances);
  } while (started.failed > 0);
  end(draft, circumstances);
  if (isTerminal(draft.run)) return OVER;
  return { wakeAt: wakeAt(draft.run, started, circumstances.now), starvedOf: started.starvedOf };
}

/** The run's deadline cancels what is pending and stops what is running. */
function enforceRunDeadline(draft: RunDraft, { now }: Circumstances): void {
  if (!deadlinePassed(draft.run, now)) return;
  const { run } = draft;
  const at = instantOf(now);
  const events = [...run.tasks].flatMap(({ star, status, attempt, stopping }, index): RunEvent[] => {
    const reason = 'run_deadline';
    if (status === 'RUNNING' && stopping === null) return [stop(star.id, attempt, reason, now)];
    if (status !== 'PENDING') return [];
    const lines = judgeLines(run, index, { status: 'CANCELLED', result: null });
    return [{ type: 'TASK_CANCELLED', data: { taskId: star.id, attempt, reason, lines, cancelledAt: at } }];
  });
  draft.add(...events);
}

function enforceTimeouts(draft: RunDraft, circumstances: Circumstances): void {
  const { now } = circumstances;
  const at = instantOf(now); // RFC 3339 in UTC with milliseconds compares as text
  for (const index of Array.from(draft.run.running)) {
    const { star, attempt, stopping, timeoutAt } = draft.run.tasks.at(index);
    if (stopping !== null && at >= stopping.graceUntil) {
      const message = 'the attempt was stopped and its end was never reported; nobody knows what it has done';
      failAttempt(
        draft,
        index,
        { error: { code: 'OUTCOME_UNKNOWN', message, outcome: 'unknown' }, attemptHash: null },
        circumstances,
      );
    } else if (stopping === null && timeoutAt !== null && at >= timeoutAt) {
      draft.add(stop(star.id, attempt, 'timeout', now));
    }
  }
}

function stop(
  taskId: string,
  attempt: number,
  reason: RunEventData<'TASK_STOP_REQUESTED'>['reason'],
  now: number,
): RunEvent {
  const graceUntil = instantOf(now + LIMITS.stopGraceMs);
  return { type: 'TASK_STOP_REQUESTED', data: { taskId, attempt, reason, requestedAt: instantOf(now), graceUntil } };
}

/** A task whose line can no longer be satisfied is skipped at once, and so is what hangs from it. */
function skipDoomed(draft: RunDraft, { now }: Circumstances): void {
  while (draft.run.doomed.size > 0) {
    const { run } = draft;
    const events = [...run.doomed].map((index): RunEvent => {
      const { lineId, by, reason } = doomOf(run, index);
      const lines = judgeLines(run, index, { status: 'SKIPPED', result: null });
      const { id: taskId } = run.tasks.at(index).star;
      return { type: 'TASK_SKIPPED', data: { taskId, by, lineId, reason, lines, skippedAt: instantOf(now) } };
    });
    draft.add(...events);
  }
}

interface Started {
  /** Busy devices of which a ready task waits for a slot; ANY_DEVICE when it waits for one to connect. */
  readonly starvedOf: ReadonlySet<string>;
  /** A ready task could start but no longer fits into this commit. */
  readonly more: boolean;
  /** Tasks that can never be satisfied: they failed, so lines were judged and the commit is not closed yet. */
  readonly failed: number;
}

function startReady(draft: RunDraft, { fleet, now }: Circumstances): Started {
  const { run } = draft;
  if (run.phase !== 'RUNNING' || run.ending !== null) return { starvedOf: OVER.starvedOf, more: false, failed: 0 };
  const slots = new Slots(fleet, run);
  // A wide constellation on a busy fleet has thousands of ready tasks with the same needs: one answer serves them all.
  const waitingNeeds = new Set<string>();
  const { needs } = graphOf(run);
  const events: RunEvent[] = [];
  const starvedOf = new Set<string>();
  let [more, failed, bytes] = [false, 0, 0];
  for (const index of inOrder(run)) {
    const task = run.tasks.at(index);
    if (task.notBefore !== null && now < Date.parse(task.notBefore)) continue;
    if (bytes > STARTED_BYTES_MAX) {
      more = true;
      break;
    }
    const need = needs[index] ?? '';
    if (waitingNeeds.has(need)) continue;
    const avoid = lostSession(task);
    const assignment = assign(task.star, slots, avoid);
    if (assignment.kind === 'never') {
      failed++;
      events.push(neverSatisfiable(run, index, assignment, now));
    } else if (assignment.kind === 'wait') {
      for (const device of assignment.busy) starvedOf.add(device);
      if (assignment.busy.length === 0) starvedOf.add(ANY_DEVICE);
      if (avoid === null) waitingNeeds.add(need);
    } else {
      const event = start(run, task, assignment.device, now);
      bytes += JSON.stringify(event.data.command).length;
      slots.take(assignment.device.deviceId);
      events.push(event);
    }
  }
  draft.add(...events);
  return { starvedOf, more, failed };
}

/** By priority, then first ready first; the sort is stable. */
function inOrder(run: Run): number[] {
  const ready = [...run.ready];
  if (!graphOf(run).prioritized) return ready;
  const priority = (index: number) => run.tasks.at(index).star.priority ?? 0;
  return ready.toSorted((a, b) => priority(b) - priority(a));
}

function lostSession({ error, sessionId }: TaskState): string | null {
  return error?.outcome === 'device_lost' ? sessionId : null;
}

function start(run: Run, task: TaskState, device: Extract<Assignment, { kind: 'device' }>['device'], now: number) {
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
      command: star.command,
      inputs: inputsOf(run, task),
      priority: star.priority ?? 0,
      startedAt: instantOf(now),
      timeoutAt: instantOf(now + timeoutMs),
    },
  } as const satisfies RunEvent;
}

/** Predecessors whose outputs the command takes: those that ran; one that was skipped or cancelled has none. */
function inputsOf(run: Run, { star }: TaskState): RunEventData<'TASK_STARTED'>['inputs'] {
  const parsed = StdinFrom.safeParse(star.command.arguments['stdin']);
  if (!parsed.success) return [];
  const { taskIndex } = graphOf(run);
  return parsed.data.from.flatMap((taskId) => {
    const source = run.tasks.at(taskIndex.get(taskId) ?? -1);
    const { status, attempt } = source;
    return (status === 'COMPLETED' || status === 'FAILED') && attempt > 0 ? [{ taskId, attempt }] : [];
  });
}

function neverSatisfiable(
  run: Run,
  index: number,
  { issue }: Extract<Assignment, { kind: 'never' }>,
  now: number,
): RunEvent {
  const { star, attempt } = run.tasks.at(index);
  const code = issue.path === 'target' ? 'NO_DEVICE' : 'UNKNOWN_TOOL';
  const lines = judgeLines(run, index, { status: 'FAILED', result: null });
  const error = { code, message: `${issue.path}: ${issue.message}`, outcome: 'failed' } as const;
  return {
    type: 'TASK_FAILED',
    data: { taskId: star.id, attempt, error, lines, failedAt: instantOf(now), attemptHash: null },
  };
}

/** A run with nothing pending and nothing running is over. */
function end(draft: RunDraft, { now }: Circumstances): void {
  const { run } = draft;
  if (run.counts.PENDING > 0 || run.counts.RUNNING > 0) return;
  const { COMPLETED: completed, FAILED: failed, SKIPPED: skipped, CANCELLED: cancelled } = run.counts;
  const counts = { completed, failed, skipped, cancelled };
  const at = instantOf(now);
  if (run.ending === 'run_deadline') {
    const reason = { code: 'DEADLINE', message: 'the deadline of the run passed before all tasks had ended' };
    draft.add({ type: 'RUN_FAILED', data: { reason, counts, failedAt: at } });
    return;
  }
  if (completed === 0) {
    const reason = { code: 'NO_TASK_COMPLETED', message: 'no task completed' };
    draft.add({ type: 'RUN_FAILED', data: { reason, counts, failedAt: at } });
    return;
  }
  const succeeded = failed === 0 && cancelled === 0 && [...run.tasks].every((task) => task.skippedBy !== 'failure');
  draft.add({
    type: 'RUN_COMPLETED',
    data: { outcome: succeeded ? 'succeeded' : 'partially_failed', counts, completedAt: at },
  });
}

/** Nothing waits for ever: the earliest of timeouts, graces, retries, the deadline, and a look at the fleet; at most 1 h ahead. */
function wakeAt(run: Run, { starvedOf, more }: Started, now: number): number {
  if (more) return now;
  let earliest = instantOf(now + LIMITS.wakeUpMsMax);
  const at = (instant: string | null | undefined) => {
    if (instant && instant < earliest) earliest = instant;
  };
  for (const index of run.running) {
    const { stopping, timeoutAt } = run.tasks.at(index);
    at(stopping?.graceUntil ?? timeoutAt);
  }
  for (const index of run.ready) at(run.tasks.at(index).notBefore);
  if (run.ending === null) at(run.request?.deadlineAt);
  if (starvedOf.size > 0) at(instantOf(now + LIMITS.waitingPollMs));
  return Date.parse(earliest);
}

/** The fleet view with the run's own tasks counted in as they are by now: a slot that this commit frees is used in this commit. */
class Slots implements FleetView {
  readonly #fleet: FleetView;
  readonly #taken = new Map<string, number>();

  constructor(fleet: FleetView, run: Run) {
    this.#fleet = fleet;
    for (const index of run.running) {
      const { deviceId } = run.tasks.at(index);
      if (deviceId !== null) this.take(deviceId);
    }
  }

  get complete(): boolean {
    return this.#fleet.complete;
  }

  get devices(): FleetView['devices'] {
    return this.#fleet.devices;
  }

  running(deviceId: string): number {
    return this.#fleet.running(deviceId) + (this.#taken.get(deviceId) ?? 0);
  }

  take(deviceId: string): void {
    this.#taken.set(deviceId, (this.#taken.get(deviceId) ?? 0) + 1);
  }
}

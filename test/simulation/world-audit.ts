import type { ApprovalId, AttemptKey, DeviceId, RunCommit, RunId } from '#proto';
import { type Answer, findTask, type Run } from '#libs/constellation';
import type { Fail } from './failure.js';
import type { FaultKind, Faults } from './faults.js';
import { SKEW_MS_MAX } from './replicas.js';
import { RunAudit } from './run-audit.js';
import type { Scheduler } from './scheduler.js';
import { type Attempt, type Attempts, textOf } from './simulated-attempts.js';
import type { Message } from './simulated-bus.js';
import type { DeviceFleet } from './simulated-devices.js';
import type { StoredCommit } from './simulated-log.js';

/** After one of these a replica may not know of tasks that run: other runs take their slots. */
const BLINDING: ReadonlySet<FaultKind> = new Set<FaultKind>([
  'append-ack-lost',
  'append-lost',
  'append-late',
  'read-lost',
  'log-away',
  'timer-ack-lost',
  'input-misdirected',
]);
const KNOWN_OUTCOMES = new Set(['failed', 'timed_out', 'cancelled']);

export interface WorldAuditParts {
  readonly fail: Fail;
  readonly faults: Faults;
  readonly attempts: Attempts;
  readonly fleet: DeviceFleet;
  readonly scheduler: Scheduler;
  /** Replicas, which each count for themselves, and times at which they lost sight of what runs. */
  readonly blinded: () => number;
}

/** All that is promised about all runs together: what devices do, and how much of it at a time. */
export class WorldAudit {
  readonly runs = new Map<RunId, RunAudit>();
  readonly #parts: WorldAuditParts;
  readonly #running = new Map<DeviceId, Set<string>>();
  readonly #startOf = new Map<string, AttemptKey & { readonly deviceId: DeviceId }>();
  /** Until when the end of a stopped attempt is waited for, milliseconds since the epoch. */
  readonly #graceOf = new Map<string, number>();
  readonly #begun = new Map<string, Attempt[]>();
  /** When something was started last, milliseconds since the epoch. */
  startedAt = 0;
  /** Up to which attempt a person has taken it on herself that a task is executed again. */
  readonly #excused = new Map<string, number>();
  #commits = 0;

  constructor(parts: WorldAuditParts) {
    this.#parts = parts;
  }

  get commits(): number {
    return this.#commits;
  }

  runOf(runId: RunId): Run | undefined {
    return this.runs.get(runId)?.run;
  }

  take(message: StoredCommit): void {
    const { commit } = message;
    this.#commits += 1;
    this.#auditOf(commit.runId).take(message);
    this.#occupy(commit);
  }

  /** D1: a device executes an attempt once, and a task again only when it is known, or indifferent, what the last try has done. */
  begins(attempt: Attempt): void {
    const { runId, taskId } = attempt.key;
    const about = `${runId} ${taskId}`;
    const before = this.#begun.get(about) ?? [];
    this.#begun.set(about, [...before, attempt]);
    const run = this.runOf(runId);
    const star = run === undefined ? undefined : findTask(run, taskId)?.star;
    if (star === undefined)
      return this.#parts.fail('EFFECT', `${textOf(attempt.key)} is executed, its task is unknown`);
    if (before.some(({ key }) => key.attempt === attempt.key.attempt)) {
      return this.#parts.fail('DOUBLE_EFFECT', `${textOf(attempt.key)} is executed twice`);
    }
    if (star.idempotent === true || attempt.start.command?.tool === 'SYS_INFO') return;
    const excused = this.#excused.get(about) ?? 0;
    const open = before.find((earlier) => earlier.key.attempt > excused && !isKnown(earlier));
    if (open !== undefined) {
      this.#parts.fail(
        'DOUBLE_EFFECT',
        `${textOf(attempt.key)} is executed, nobody knows what ${textOf(open.key)} has done`,
      );
    }
  }

  #auditOf(runId: RunId): RunAudit {
    const found = this.runs.get(runId);
    if (found !== undefined) return found;
    const { fail, attempts, fleet } = this.#parts;
    const endOf = (taskId: string, attempt: number) => attempts.find({ runId, taskId, attempt })?.end ?? null;
    const audit = new RunAudit({ runId, fail, endOf, fleet: () => fleet.view });
    this.runs.set(runId, audit);
    return audit;
  }

  /** An end that is ignored has been recorded before, or came too late: whoever ignores it must have seen the start. */
  answered({ ends, about }: Message, answer: Answer): void {
    if (ends === undefined || answer.kind === 'accepted') return;
    const run = this.runOf(ends.runId);
    const task = run === undefined ? undefined : findTask(run, ends.taskId);
    if (task?.status !== 'RUNNING' || task.attempt !== ends.attempt) return;
    this.#parts.fail('LOST_INPUT', `${about} was ${answer.kind} while the attempt runs`);
  }

  /** Slots are counted in memory, by each replica for itself: exactly while nobody loses sight of a run, and never without bound. */
  #occupy({ runId, events }: RunCommit): void {
    const { faults, fleet, fail } = this.#parts;
    for (const event of events) {
      const { type, data } = event;
      if (type === 'TASK_STARTED') {
        this.startedAt = Date.parse(data.startedAt);
        this.#leave(`${runId} ${data.taskId}`);
        const running = this.#running.get(data.deviceId) ?? new Set();
        this.#running.set(data.deviceId, running.add(`${runId} ${data.taskId}`));
        this.#startOf.set(`${runId} ${data.taskId}`, { runId, ...data });
        this.#graceOf.delete(`${runId} ${data.taskId}`);
        const { tasksMax } = fleet.find(data.deviceId).profile;
        const blinded = this.#parts.blinded() + faults.struck.filter(({ kind }) => BLINDING.has(kind)).length;
        const busy = [...running].filter((task) => this.#occupies(task)).length;
        if (busy > tasksMax * blinded) {
          fail('SLOTS', `${busy} tasks run on ${data.deviceId}, which takes ${tasksMax}; ${blinded} count`);
        }
      } else if (type === 'TASK_STOP_REQUESTED') {
        this.#graceOf.set(`${runId} ${data.taskId}`, Date.parse(data.graceUntil));
      } else if (type === 'TASK_COMPLETED' || type === 'TASK_FAILED' || type === 'TASK_CANCELLED') {
        this.#leave(`${runId} ${data.taskId}`);
      } else if (type === 'TASK_REOPENED' && data.reason === 'operator') {
        this.#excused.set(`${runId} ${data.taskId}`, data.attempt);
      }
    }
  }

  /** A slot is free as soon as somebody knows of the end, or waits for it no more, which the run may record a moment later. */
  #occupies(task: string): boolean {
    const start = this.#startOf.get(task);
    if ((this.#graceOf.get(task) ?? Infinity) <= this.#parts.scheduler.now() + SKEW_MS_MAX) return false;
    return start !== undefined && (this.#parts.attempts.find(start)?.end ?? null) === null;
  }

  #leave(task: string): void {
    const deviceId = this.#startOf.get(task)?.deviceId;
    if (deviceId !== undefined) this.#running.get(deviceId)?.delete(task);
  }

  /** Somebody let it through, and took it not back before it was. */
  acts({ key }: Attempt, approvalId: ApprovalId): void {
    const state = this.runs.get(key.runId)?.asks.stateOf(approvalId);
    if (state === 'approved' || state === 'edited' || state === 'revoked') return;
    this.#parts.fail('I6_APPROVAL', `${textOf(key)} acts on ${approvalId}, which is ${state ?? 'unknown'}`);
  }

  /** Tasks that run on a device by the log. */
  running(deviceId: DeviceId): number {
    return this.#running.get(deviceId)?.size ?? 0;
  }
}

function isKnown({ end, doneAt }: Attempt): boolean {
  const finished = end?.events.find((event) => event.type === 'ATTEMPT_FINISHED')?.data;
  if (doneAt === null || finished === undefined) return false;
  return finished.status === 'completed' || KNOWN_OUTCOMES.has(finished.error.outcome);
}

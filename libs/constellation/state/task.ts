import type {
  Actor,
  ApprovalId,
  Budget,
  DeviceId,
  FanOutPart,
  Instant,
  RunId,
  SessionId,
  StopReason,
  TaskError,
  TaskId,
  TaskResult,
  TaskStar,
  TaskStatus,
} from '#proto';
import type { Doomer } from '../plan/index.js';

/** What is known of a task whatever has become of it. */
interface TaskBasis {
  readonly star: TaskStar;
  /** What it needs of a device: tasks with the same text are served by the same devices. */
  readonly need: string;
  /** Number of the last attempt that was started; 0 before the first. Fences every result. */
  readonly attempt: number;
  /** How many of its attempts ended before anything of them reached a device: its retry policy does not count them. */
  readonly unsent: number;
  /** When it must have ended, all tries together. */
  readonly deadlineAt: Instant | null;
  /** Devices on which it failed: another one is preferred for the next attempt. */
  readonly failedOn: readonly DeviceId[];
  /** The ancestor run in which its last attempt ran; null when that is this run. */
  readonly ranIn: RunId | null;
  /** A model, or who is no operator, may have written its command, its check or where they run: they are judged, however often they run. */
  readonly judged: boolean;
  /** What it replaces is recovered by it also where nothing checks that: a person named it so, or agreed. */
  readonly vouched: boolean;
  /** What the last attempt asked a person, in that order. */
  readonly asks: readonly ApprovalId[];
  /** Incoming lines that are not judged yet, and that were judged not satisfied. */
  readonly linesOpen: number;
  readonly linesUnsatisfied: number;
  /** Of a task that runs on several devices, from its begin on; null before, and of every other one. */
  readonly fanOut: FanOut | null;
  /** The task of which this is one device, and its wave; null of every other one. */
  readonly part: { readonly of: TaskId; readonly wave: number } | null;
}

/** A task on several devices: it is PENDING until all of them have ended, or no other one begins. */
export interface FanOut {
  /** All of them, in the order in which they begin. */
  readonly parts: readonly FanOutPart[];
  readonly waveSize: number;
  readonly maxFailures: number;
  /** The last wave that has begun, and how many devices have by then; 0 before the first. */
  readonly wave: number;
  readonly begun: number;
}

/** The last attempt, as far as there was one: also of a task that is to be tried again, or was given up before its next try. */
interface LastAttempt {
  readonly deviceId: DeviceId | null;
  readonly sessionId: SessionId | null;
  readonly startedAt: Instant | null;
  readonly timeoutAt: Instant | null;
  readonly result: TaskResult | null;
  readonly error: TaskError | null;
}

interface DeviceWait {
  readonly since: Instant;
  readonly asked: boolean;
  /** Why, as the fleet was when it began; null where that is not recorded. */
  readonly why: string | null;
}

interface Waiting extends LastAttempt {
  readonly status: 'PENDING';
  /** Earliest start of the next attempt after a retry was decided. */
  readonly notBefore: Instant | null;
  /** Since when no connected device can take it though it is ready, and whether the planner was asked; null while one can. */
  readonly deviceWait: DeviceWait | null;
  readonly stopping: null;
  readonly slice: null;
  readonly endedAt: null;
  readonly reason: null;
  readonly skippedBy: null;
}

interface Running {
  readonly status: 'RUNNING';
  readonly deviceId: DeviceId;
  readonly sessionId: SessionId;
  readonly startedAt: Instant;
  /** Null, like its slice, when it ran in the parent as this run was forked: it ends in the same commit. */
  readonly timeoutAt: Instant | null;
  /** A stop was requested for the running attempt; after `graceUntil` its outcome is unknown. */
  readonly stopping: { readonly reason: StopReason; readonly graceUntil: Instant; readonly by: Actor | null } | null;
  /** What the running attempt may use up of the run's budget. */
  readonly slice: Budget | null;
  readonly notBefore: null;
  readonly deviceWait: null;
  readonly endedAt: null;
  readonly result: null;
  readonly error: null;
  readonly reason: null;
  readonly skippedBy: null;
}

interface Over extends LastAttempt {
  readonly endedAt: Instant;
  readonly notBefore: Instant | null;
  readonly deviceWait: null;
  readonly stopping: null;
  readonly slice: null;
}

interface Completed extends Over {
  readonly status: 'COMPLETED';
  readonly result: TaskResult;
  readonly error: null;
  readonly reason: null;
  readonly skippedBy: null;
}

interface Failed extends Over {
  readonly status: 'FAILED';
  readonly error: TaskError;
  readonly reason: null;
  readonly skippedBy: null;
}

interface Skipped extends Over {
  readonly status: 'SKIPPED';
  /** For people. */
  readonly reason: string;
  readonly skippedBy: Doomer;
}

interface Cancelled extends Over {
  readonly status: 'CANCELLED';
  /** For people. */
  readonly reason: string;
  readonly skippedBy: null;
}

/**
 * One task of a run: its definition and what has become of it. Every state has every field, so that all have one shape for the machine;
 * what a field can be depends on the status.
 */
export type TaskState = TaskBasis & (Waiting | Running | Completed | Failed | Skipped | Cancelled);
/** A task in one of its states. */
export type TaskIn<S extends TaskStatus> = Extract<TaskState, { readonly status: S }>;

/** The same for all tasks that never asked. */
export const NOTHING_ASKED: readonly ApprovalId[] = [];

/** A task that is new in its run. `at`: when it was added, in milliseconds since the epoch. */
export function pendingTask(star: TaskStar, at: number): TaskIn<'PENDING'> {
  return {
    star,
    need: needOf(star),
    status: 'PENDING',
    attempt: 0,
    deviceId: null,
    sessionId: null,
    unsent: 0,
    startedAt: null,
    timeoutAt: null,
    endedAt: null,
    deadlineAt: deadlineOf(star, at),
    stopping: null,
    notBefore: null,
    deviceWait: null,
    failedOn: [],
    result: null,
    error: null,
    reason: null,
    skippedBy: null,
    ranIn: null,
    slice: null,
    judged: false,
    vouched: false,
    asks: NOTHING_ASKED,
    linesOpen: 0,
    linesUnsatisfied: 0,
    fanOut: null,
    part: null,
  };
}

/** Tasks as somebody has written them: one on several devices is one of them, and those of its devices are none. */
export function plannedOf(tasks: Iterable<TaskState>): TaskStar[] {
  return [...tasks].flatMap(({ star, part }) => (part === null ? [star] : []));
}

export function needOf({ target, command, verify, files }: TaskStar): string {
  return JSON.stringify([target, command?.tool, verify?.command?.tool, files !== undefined]);
}

export function deadlineOf({ deadlineMs }: TaskStar, at: number): Instant | null {
  return deadlineMs === undefined ? null : new Date(at + deadlineMs).toISOString();
}

export function isTerminalTask(status: TaskStatus): boolean {
  return status !== 'PENDING' && status !== 'RUNNING';
}

import type {
  DeviceId,
  Instant,
  RunEventData,
  RunId,
  RunOutcome,
  SessionId,
  StopReason,
  TaskConstellation,
  TaskError,
  TaskId,
  TaskResult,
  TaskStar,
  TaskStatus,
} from '#proto';
import type { Graph } from './graph.js';
import { PersistentArray } from './persistent-array.js';

/** One task of a run: its definition and what has become of it. */
export interface TaskState {
  readonly star: TaskStar;
  readonly status: TaskStatus;
  /** Number of the last attempt that was started; 0 before the first. Fences every result. */
  readonly attempt: number;
  readonly deviceId: DeviceId | null;
  readonly sessionId: SessionId | null;
  readonly startedAt: Instant | null;
  readonly timeoutAt: Instant | null;
  readonly endedAt: Instant | null;
  /** A stop was requested for the running attempt; after `graceUntil` its outcome is unknown. */
  readonly stopping: { readonly reason: StopReason; readonly graceUntil: Instant } | null;
  /** Earliest start of the next attempt after a retry was decided. */
  readonly notBefore: Instant | null;
  readonly result: TaskResult | null;
  readonly error: TaskError | null;
  /** Why it was skipped or cancelled, for people. */
  readonly reason: string | null;
  readonly skippedBy: 'condition' | 'failure' | null;
  /** Incoming lines that are not judged yet, and that were judged not satisfied. */
  readonly linesOpen: number;
  readonly linesUnsatisfied: number;
}

export interface LineState {
  readonly satisfied: boolean | null;
  readonly reason: string | null;
}

/** NONE: nothing is recorded. PAUSED: facts are recorded, nothing new starts. The rest is terminal. */
export type RunPhase = 'NONE' | 'RUNNING' | 'PAUSED' | 'COMPLETED' | 'FAILED' | 'CANCELLED';

/** The aggregate: one run as its commits tell it. Immutable; `evolve` makes the next one. */
export interface Run {
  readonly runId: RunId;
  readonly phase: RunPhase;
  readonly request: Omit<RunEventData<'RUN_REQUESTED'>, 'constellation'> | null;
  readonly requested: TaskConstellation | null;
  readonly graph: Graph | null;
  readonly revision: number;
  readonly tasks: PersistentArray<TaskState>;
  readonly lines: PersistentArray<LineState>;
  /** Positions of PENDING tasks all of whose lines are satisfied. */
  readonly ready: ReadonlySet<number>;
  /** Positions of PENDING tasks with a line that can no longer be satisfied: skipped before the commit is closed. */
  readonly doomed: ReadonlySet<number>;
  readonly running: ReadonlySet<number>;
  readonly counts: Readonly<Record<TaskStatus, number>>;
  /** Set by the first task that was cancelled or stopped because the run is to end. */
  readonly ending: StopReason | null;
  readonly outcome: RunOutcome | null;
  readonly reason: string | null;
  readonly endedAt: Instant | null;
  /** Last event, last commit and its hash: what the next commit goes on from. */
  readonly sequence: number;
  readonly number: number;
  readonly hash: string;
}

const NO_COUNTS = { PENDING: 0, RUNNING: 0, COMPLETED: 0, FAILED: 0, SKIPPED: 0, CANCELLED: 0 } as const;

export function emptyRun(runId: RunId): Run {
  return {
    runId,
    phase: 'NONE',
    request: null,
    requested: null,
    graph: null,
    revision: 0,
    tasks: PersistentArray.from<TaskState>([]),
    lines: PersistentArray.from<LineState>([]),
    ready: new Set(),
    doomed: new Set(),
    running: new Set(),
    counts: NO_COUNTS,
    ending: null,
    outcome: null,
    reason: null,
    endedAt: null,
    sequence: 0,
    number: 0,
    hash: '0'.repeat(64),
  };
}

export function isTerminal({ phase }: Pick<Run, 'phase'>): boolean {
  return phase === 'COMPLETED' || phase === 'FAILED' || phase === 'CANCELLED';
}

export function isTerminalTask(status: TaskStatus): boolean {
  return status !== 'PENDING' && status !== 'RUNNING';
}

export function findTask(run: Run, taskId: TaskId): TaskState | undefined {
  const index = run.graph?.taskIndex.get(taskId);
  return index === undefined ? undefined : run.tasks.at(index);
}

/** The graph of a run whose constellation is recorded; every caller has seen that it is. */
export function graphOf(run: Run): Graph {
  if (run.graph === null) throw new Error(`run ${run.runId} has no constellation yet`);
  return run.graph;
}

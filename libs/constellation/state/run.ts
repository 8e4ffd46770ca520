import {
  type Actor,
  type ApprovalId,
  type BlackboardNote,
  type Budget,
  type DeviceId,
  type EditId,
  type EditPolicy,
  type EditTrigger,
  type EditViolation,
  type Evaluation,
  type FinalAnswer,
  GENESIS_HASH,
  type Instant,
  type RunNote,
  type LockPolicy,
  NO_USAGE,
  type PlanSource,
  type RunEventData,
  type RunId,
  type RunOutcome,
  type SessionId,
  type StopReason,
  type Target,
  type TaskConstellation,
  type TaskError,
  type TaskId,
  type TaskResult,
  type TaskStar,
  type TaskStatus,
  type Usage,
} from '#proto';
import { type Approvals, NO_APPROVALS } from './approval-state.js';
import type { Doomer, Graph } from '../plan/index.js';
import { PersistentArray } from '../values/index.js';

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
  /** A model may have written its command, its check or where they run: they are judged before they run, however often. */
  readonly judged: boolean;
  /** What it replaces is recovered by it also where nothing checks that: a person named it so, or agreed. */
  readonly vouched: boolean;
  /** What the last attempt asked a person, in that order. */
  readonly asks: readonly ApprovalId[];
  /** Incoming lines that are not judged yet, and that were judged not satisfied. */
  readonly linesOpen: number;
  readonly linesUnsatisfied: number;
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

interface Waiting extends LastAttempt {
  readonly status: 'PENDING';
  /** Earliest start of the next attempt after a retry was decided. */
  readonly notBefore: Instant | null;
  /** Since when no connected device can take it though it is ready, and whether the planner was asked; null while one can. */
  readonly deviceWait: { readonly since: Instant; readonly asked: boolean } | null;
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

export interface LineState {
  readonly satisfied: boolean | null;
  readonly reason: string | null;
  /** Nobody can say whether its condition holds: not satisfied, and not known not to be. */
  readonly undecided?: true | undefined;
}

/** An edit round that is open: the lock is held. */
export interface Editing {
  readonly editId: EditId;
  readonly mode: 'creation' | 'editing';
  readonly triggers: readonly EditTrigger[];
  readonly revision: number;
  /** The last try that was refused, how many were, and why. */
  readonly tries: number;
  readonly rejections: number;
  readonly violations: readonly EditViolation[];
  readonly lockPolicy: LockPolicy;
  readonly openedAt: Instant;
  readonly deadlineAt: Instant;
  /** What is left of what the planner may use up in this round; null when the run has no bound on it. */
  readonly budget: Budget | null;
}

/** Why the run is about to end before its plan does. */
export interface RunEnding {
  readonly reason: StopReason;
  readonly by: Actor | null;
  readonly note: string | null;
}

/** NONE: nothing is recorded. PAUSED: facts are recorded, nothing new starts. The rest is terminal. */
export type RunPhase = 'NONE' | 'RUNNING' | 'PAUSED' | 'COMPLETED' | 'FAILED' | 'CANCELLED';

/** What a run was asked, also when it was forked. */
export type RunAsked = Omit<RunEventData<'RUN_REQUESTED'>, 'constellation' | 'deadlineAt'>;

/** The aggregate: one run as its commits tell it. Immutable; `evolve` makes the next one. */
export interface Run {
  readonly runId: RunId;
  readonly phase: RunPhase;
  readonly request: RunAsked | null;
  readonly requested: TaskConstellation | null;
  readonly parent: RunEventData<'RUN_FORKED'>['parent'] | null;
  readonly deadlineAt: Instant | null;
  readonly graph: Graph | null;
  /** Some task has, or had, a priority other than 0. */
  readonly prioritized: boolean;
  readonly revision: number;
  /** Where edits that a model may have written can let tasks run; null: there is no bound. */
  readonly scope: readonly Target[] | null;
  /** What the first plan came from, also of the run that this one was forked from; null where nobody planned, or nobody said. */
  readonly planSource: PlanSource | null;
  readonly tasks: PersistentArray<TaskState>;
  readonly lines: PersistentArray<LineState>;
  /** Ids of tasks that were removed, which are never used again, and of lines, marked as such. */
  readonly usedIds: ReadonlySet<string>;
  /** Positions of PENDING tasks all of whose lines are satisfied. */
  readonly ready: ReadonlySet<number>;
  /** Positions of PENDING tasks with a line that can no longer be satisfied: skipped before the commit is closed, unless held. */
  readonly doomed: ReadonlySet<number>;
  readonly running: ReadonlySet<number>;
  /** Positions of PENDING and RUNNING tasks with a deadline of their own. */
  readonly timed: ReadonlySet<number>;
  /** Positions of ready tasks that no connected device can take. */
  readonly stranded: ReadonlySet<number>;
  readonly counts: Readonly<Record<TaskStatus, number>>;
  /** PENDING tasks of agents: they share what is left of the budget. */
  readonly agentsPending: number;
  /** Used up by attempts and rounds that have ended, and given to those that go on. */
  readonly used: Usage;
  readonly granted: Usage;
  readonly approvals: Approvals;
  readonly blackboard: readonly BlackboardNote[];
  readonly editing: Editing | null;
  /** What the planner has to look at in its next round. */
  readonly queued: readonly EditTrigger[];
  /** Edit rounds so far. */
  readonly rounds: number;
  /** The revision whose end a round has looked at; null when none has. */
  readonly endOfPlanRevision: number | null;
  /** The last round passed its deadline: until the planner speaks again, rounds hold nothing. */
  readonly plannerSilent: boolean;
  /** Why the planner is not asked any more: its model was, as often as it may be. Null while it may. */
  readonly noMoreRounds: string | null;
  /** Set by the first task that was cancelled or stopped because the run is to end. */
  readonly ending: RunEnding | null;
  /** Whose word a paused run waits for; null when nothing but a RESUME is meant. */
  readonly waitsFor: 'plan_approval' | null;
  readonly outcome: RunOutcome | null;
  readonly reason: string | null;
  readonly endedAt: Instant | null;
  /** The reply to whoever asked: what the planner wrote with its last word, and then what the end says. */
  readonly answer: FinalAnswer | null;
  /** What the run was found to be worth since it ended: an annotation, on which nothing depends but that there is one. */
  readonly evaluation: Evaluation | null;
  /** Annotations, too, of people, in order; a fork begins without them. */
  readonly notes: readonly RunNote[];
  /** Verbs that were decided, by id: asked again, they are answered again and append nothing. */
  readonly verbs: ReadonlyMap<string, { readonly sequence: number; readonly rejected: boolean }>;
  /** Last event, last commit and its hash: what the next commit goes on from. */
  readonly sequence: number;
  readonly number: number;
  readonly hash: string;
}

export const NO_COUNTS = { PENDING: 0, RUNNING: 0, COMPLETED: 0, FAILED: 0, SKIPPED: 0, CANCELLED: 0 } as const;

export function emptyRun(runId: RunId): Run {
  return {
    runId,
    phase: 'NONE',
    request: null,
    requested: null,
    parent: null,
    deadlineAt: null,
    graph: null,
    prioritized: false,
    revision: 0,
    scope: null,
    planSource: null,
    tasks: PersistentArray.from<TaskState>([]),
    lines: PersistentArray.from<LineState>([]),
    usedIds: new Set(),
    ready: new Set(),
    doomed: new Set(),
    running: new Set(),
    timed: new Set(),
    stranded: new Set(),
    counts: NO_COUNTS,
    agentsPending: 0,
    used: NO_USAGE,
    granted: NO_USAGE,
    approvals: NO_APPROVALS,
    blackboard: [],
    editing: null,
    queued: [],
    rounds: 0,
    endOfPlanRevision: null,
    plannerSilent: false,
    noMoreRounds: null,
    ending: null,
    waitsFor: null,
    outcome: null,
    reason: null,
    endedAt: null,
    answer: null,
    evaluation: null,
    notes: [],
    verbs: new Map(),
    sequence: 0,
    number: 0,
    hash: GENESIS_HASH,
  };
}

/** Why a run is paused whose plan nobody has accepted yet. */
export const PLAN_WAITS = 'the plan waits for approval';

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
  };
}

export function needOf({ target, command, verify }: TaskStar): string {
  return JSON.stringify([target, command?.tool, verify?.command?.tool]);
}

export function deadlineOf({ deadlineMs }: TaskStar, at: number): Instant | null {
  return deadlineMs === undefined ? null : new Date(at + deadlineMs).toISOString();
}

export const JUDGED_NEVER: LineState = { satisfied: null, reason: null };

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

/** Nobody is asked about a constellation that was given, unless the request says so. */
export function editPolicyOf({ request }: { readonly request: Pick<RunAsked, 'goal' | 'options'> | null }): EditPolicy {
  return request?.options.editPolicy ?? (request?.goal === null ? 'never' : 'when-needed');
}

export function lockPolicyOf({ request }: Pick<Run, 'request'>): LockPolicy {
  return request?.options.lockPolicy ?? 'scoped';
}

/** True for the reasons that end the run, not the attempt alone. */
export function endsTheRun(reason: StopReason): boolean {
  return reason !== 'timeout' && reason !== 'task_deadline' && reason !== 'retry';
}

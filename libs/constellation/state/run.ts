import {
  type Actor,
  type BlackboardNote,
  type Budget,
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
  type StopReason,
  type Target,
  type TaskConstellation,
  type TaskId,
  type TaskStatus,
  type Usage,
} from '#proto';
import { type Approvals, NO_APPROVALS } from './approval-state.js';
import type { Graph } from '../plan/index.js';
import { PersistentArray } from '../values/index.js';
import type { TaskState } from './task.js';

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

export const JUDGED_NEVER: LineState = { satisfied: null, reason: null };

export function isTerminal({ phase }: Pick<Run, 'phase'>): boolean {
  return phase === 'COMPLETED' || phase === 'FAILED' || phase === 'CANCELLED';
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

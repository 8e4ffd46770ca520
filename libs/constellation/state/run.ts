import {
  type Actor,
  type BlackboardNote,
  type DeviceId,
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
  type SaidWords,
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
import type { Author } from './authors.js';
import { type Board, NO_BOARD } from '../board/index.js';
import { type Graph, NO_GRAPH } from '../plan/index.js';
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

/** What a run was asked, also when it was forked. */
export type RunAsked = Omit<RunEventData<'RUN_REQUESTED'>, 'constellation' | 'deadlineAt'>;

/** What is known of a run whatever its phase. */
export interface RunBasis {
  readonly runId: RunId;
  readonly requested: TaskConstellation | null;
  readonly parent: RunEventData<'RUN_FORKED'>['parent'] | null;
  /** Empty before the first plan. */
  readonly graph: Graph;
  /** Some task has, or had, a priority other than 0. */
  readonly prioritized: boolean;
  /** Some task names, or named, files: the run has a workspace on each of its devices. */
  readonly namesFiles: boolean;
  /** Devices on which the run has, or had, a workspace. */
  readonly workspaces: ReadonlySet<DeviceId>;
  /** Counts the changes of the constellation; 0 before the first plan. */
  readonly revision: number;
  /** Where edits that a model may have written can let tasks run; null: there is no bound. */
  readonly scope: readonly Target[] | null;
  /** What the first plan came from, also of the run that this one was forked from; null where nobody planned, or nobody said. */
  readonly planSource: PlanSource | null;
  readonly tasks: PersistentArray<TaskState>;
  readonly lines: PersistentArray<LineState>;
  /** Ids of tasks that were removed, which are never used again, and of lines, marked as such. */
  readonly usedIds: ReadonlySet<string>;
  /** Positions of PENDING tasks all of whose lines are satisfied: of those for one device, and of those for several. */
  readonly ready: ReadonlySet<number>;
  readonly fanOuts: ReadonlySet<number>;
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
  /** Persons and systems whose request, edit or fork is in what the run does. */
  readonly authors: readonly Author[];
  /** Who has accepted the plan that waits, and which revision of it, one after the other. */
  readonly planWords: readonly { readonly by: Actor; readonly revision: number }[];
  readonly blackboard: readonly BlackboardNote[];
  /** What tasks, agents, the planner and people have written for one another, by name. */
  readonly board: Board;
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
  /** Annotations, too, of people, in order; a fork begins without them. */
  readonly notes: readonly RunNote[];
  /** What people have said to it besides what was asked, in order; a fork goes on with that of its parent. */
  readonly words: readonly SaidWords[];
  /** Verbs that were decided, by id: asked again, they are answered again and append nothing. */
  readonly verbs: ReadonlyMap<string, { readonly sequence: number; readonly rejected: boolean }>;
  /** Last event, last commit and its hash: what the next commit goes on from. */
  readonly sequence: number;
  readonly number: number;
  readonly hash: string;
}

/** Nothing is recorded. */
interface Unasked extends NotPaused, NotOver {
  readonly phase: 'NONE';
  readonly request: null;
  readonly deadlineAt: null;
  readonly ending: null;
}

export interface RequestOfRun {
  readonly request: RunAsked;
  readonly deadlineAt: Instant;
}

interface NotPaused {
  readonly reason: null;
  readonly waitsFor: null;
}

interface NotOver {
  readonly outcome: null;
  readonly endedAt: null;
  readonly answer: null;
  readonly evaluation: null;
}

interface MayEnd extends NotOver {
  /** Set by the first task that was cancelled or stopped because the run is to end; with it the planner's last word, if it had one. */
  readonly ending: (RunEnding & { readonly answer: FinalAnswer | null }) | null;
}

interface Running extends MayEnd, NotPaused {
  readonly phase: 'RUNNING';
}

/** Facts are recorded, nothing new starts. */
interface Paused extends MayEnd {
  readonly phase: 'PAUSED';
  /** For people. */
  readonly reason: string;
  /** Whose word the run waits for; null when nothing but a RESUME is meant. */
  readonly waitsFor: 'plan_approval' | null;
}

interface Over {
  readonly endedAt: Instant;
  /** The reply to the requester. */
  readonly answer: FinalAnswer | null;
  /** What the run was found to be worth since it ended: an annotation, on which nothing depends but that there is one. */
  readonly evaluation: Evaluation | null;
  readonly ending: null;
  readonly waitsFor: null;
}

interface Completed extends Over {
  readonly phase: 'COMPLETED';
  readonly outcome: RunOutcome;
  readonly reason: null;
}

interface Undone extends Over {
  readonly phase: 'FAILED' | 'CANCELLED';
  readonly outcome: null;
  /** For people. */
  readonly reason: string;
}

/** What a run that was asked for is at, all of it: a fold goes from one to another as a whole. */
export type Standing = Running | Paused | Completed | Undone;

/**
 * The aggregate: one run as its commits tell it. Immutable; `evolve` makes the next one. Every phase has every field, so that all have
 * one shape for the machine; what a field can be depends on the phase.
 */
export type Run = RunBasis & PhaseOfRun;
export type PhaseOfRun = Unasked | (RequestOfRun & Standing);

/** What holds of a run that goes on. */
export const UNDERWAY = {
  phase: 'RUNNING',
  ending: null,
  reason: null,
  waitsFor: null,
  outcome: null,
  endedAt: null,
  answer: null,
  evaluation: null,
} as const satisfies Running;

export const NO_COUNTS = { PENDING: 0, RUNNING: 0, COMPLETED: 0, FAILED: 0, SKIPPED: 0, CANCELLED: 0 } as const;

export function emptyRun(runId: RunId): Run {
  return {
    ...UNDERWAY,
    runId,
    phase: 'NONE',
    request: null,
    deadlineAt: null,
    requested: null,
    parent: null,
    graph: NO_GRAPH,
    prioritized: false,
    namesFiles: false,
    workspaces: new Set(),
    revision: 0,
    scope: null,
    planSource: null,
    tasks: PersistentArray.from<TaskState>([]),
    lines: PersistentArray.from<LineState>([]),
    usedIds: new Set(),
    ready: new Set(),
    fanOuts: new Set(),
    doomed: new Set(),
    running: new Set(),
    timed: new Set(),
    stranded: new Set(),
    counts: NO_COUNTS,
    agentsPending: 0,
    used: NO_USAGE,
    granted: NO_USAGE,
    approvals: NO_APPROVALS,
    authors: [],
    planWords: [],
    blackboard: [],
    board: NO_BOARD,
    editing: null,
    queued: [],
    rounds: 0,
    endOfPlanRevision: null,
    plannerSilent: false,
    noMoreRounds: null,
    notes: [],
    words: [],
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

/** The first plan is made: also when it turned out to be empty. */
export function hasPlan({ revision }: Pick<Run, 'revision'>): boolean {
  return revision > 0;
}

/** Somebody has said something that the planner is asked about. */
export function hasWords(triggers: readonly EditTrigger[]): boolean {
  return triggers.some(({ kind }) => kind === 'words');
}

export function findTask(run: Pick<Run, 'graph' | 'tasks'>, taskId: TaskId): TaskState | undefined {
  const index = run.graph.taskIndex.get(taskId);
  return index === undefined ? undefined : run.tasks.at(index);
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
  return reason !== 'timeout' && reason !== 'task_deadline' && reason !== 'retry' && reason !== 'fan_out_stopped';
}

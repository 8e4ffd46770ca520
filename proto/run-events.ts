import { z } from 'zod';
import { Actor } from './actors.js';
import { ApprovalGiven, ApprovalId, Ask, Decided, StandingUse } from './approvals.js';
import { BoardEntry, BoardWritten } from './board.js';
import { Budget, Usage } from './budget.js';
import { commitShape, type EventOf, recordedEvent, recordedEvents } from './commit.js';
import {
  PlannedCall,
  FieldPath,
  RecordedConstellation,
  RecordedLine,
  RunOutcome,
  Target,
  TaskStar,
  TaskStatus,
  Verification,
} from './constellation.js';
import { EditTrace, EditTrigger, EditViolation, PlannerState, PlanSource, RecordedEdit } from './edits.js';
import { FanOutStarted, ForkedFanOut, WaveStarted } from './fan-out.js';
import { FinalAnswer } from './final-answer.js';
import {
  DeviceId,
  EditId,
  Instant,
  JournalId,
  Json,
  LineId,
  RequestId,
  RunId,
  SessionId,
  Sha256,
  TaskId,
} from './ids.js';
import { RunLabels } from './labels.js';
import { LIMITS } from './limits.js';
import { Note } from './model.js';
import { ApprovalMode } from './policy.js';
import { LockPolicy, RunOptions } from './request.js';
import { TaskError, TaskResult } from './result.js';
import { RunAnnotation } from './run-note.js';
import { AttemptFiles } from './task-files.js';
import { SaidWords } from './words.js';
import { WaitReasons } from './wait-reasons.js';

const attempt = z.int().min(0);

/**
 * What a line came to when its predecessor ended. `reason` is there when it is not satisfied. `undecided`: nobody can say
 * whether its condition holds, which is not a no; `satisfied` is false then.
 */
export const LineResult = z
  .strictObject({
    id: LineId,
    satisfied: z.boolean(),
    reason: z.string().optional(),
    undecided: z.literal(true).optional(),
  })
  .refine(({ satisfied, undecided }) => undecided === undefined || !satisfied, {
    path: ['undecided'],
    error: 'what is undecided is not satisfied',
  });
export type LineResult = z.infer<typeof LineResult>;

/** A note of an agent of this run, with whose it is. */
export const BlackboardNote = z.strictObject({ taskId: TaskId, deviceId: DeviceId, note: Note });
export type BlackboardNote = z.infer<typeof BlackboardNote>;

/** What the device's agent is asked to do, where no exact command was given. */
export const AgentOrder = z.strictObject({
  name: z.string(),
  description: z.string(),
  tips: z.array(z.string()),
  /** What other agents of the run have noted so far, newest last. */
  blackboard: z.array(BlackboardNote),
});
export type AgentOrder = z.infer<typeof AgentOrder>;

/**
 * Ready tasks that no connected device can take, from `at` on, and those of which that is no longer so though they have not
 * started: a device that would do is connected and busy. What starts or ends waits no more without a word.
 */
export const TasksWaiting = z
  .strictObject({
    began: z.array(TaskId).max(LIMITS.tasksMax),
    over: z.array(TaskId).max(LIMITS.tasksMax),
    at: Instant,
    /** Why no device took those that began, as the fleet was then: once for all that ask for the same, and of many the first. */
    why: WaitReasons.optional(),
  })
  .refine(({ began, over }) => began.length + over.length > 0, 'at least one task must be named');

/**
 * `timeout` of an attempt, `task_deadline` of all its tries, `retry` by a person, `fan_out_stopped`: too many devices of its task have
 * failed before it began; the others end the run: `budget`: nothing of it is left.
 */
export const StopReason = z.enum([
  'timeout',
  'task_deadline',
  'retry',
  'fan_out_stopped',
  'run_deadline',
  'cancelled',
  'finished',
  'plan_failed',
  'budget',
]);
export type StopReason = z.infer<typeof StopReason>;

export const TaskCounts = z.strictObject({
  completed: z.int(),
  failed: z.int(),
  skipped: z.int(),
  cancelled: z.int(),
});

/** A task as a fork takes it over. */
export const ForkedTask = z.strictObject({
  star: TaskStar,
  status: TaskStatus,
  attempt,
  deviceId: DeviceId.nullable(),
  sessionId: SessionId.nullable(),
  startedAt: Instant.nullable(),
  endedAt: Instant.nullable(),
  notBefore: Instant.nullable(),
  deadlineAt: Instant.nullable(),
  result: TaskResult.nullable(),
  error: TaskError.nullable(),
  reason: z.string().nullable(),
  skippedBy: z.enum(['condition', 'failure']).nullable(),
  /** The run in which its last attempt ran, and whose ATTEMPTS hold its steps. */
  ranIn: RunId.nullable(),
  /** A model may have written its command, or who is no operator. */
  judge: z.literal(true).optional(),
  /** A person agreed that it stands for what it replaces. */
  vouched: z.literal(true).optional(),
  /** Of a task that runs on several devices and has begun. */
  fanOut: ForkedFanOut.optional(),
  /** The task of which this is one device, and its wave. */
  part: z.strictObject({ of: TaskId, wave: z.int().min(1) }).optional(),
});
export type ForkedTask = z.infer<typeof ForkedTask>;

export const ForkedLine = z.strictObject({
  line: RecordedLine,
  satisfied: z.boolean().nullable(),
  reason: z.string().nullable(),
  undecided: z.literal(true).optional(),
});
export type ForkedLine = z.infer<typeof ForkedLine>;

const SCHEMAS = {
  RUN_REQUESTED: z.strictObject({
    requestId: RequestId,
    namespace: z.string(),
    /** SHA-256 of the canonical request: the same request id with another content is a conflict. */
    contentHash: Sha256,
    goal: z.string().nullable(),
    constellation: RecordedConstellation.nullable(),
    options: RunOptions,
    metadata: z.record(z.string(), Json),
    /** Absent where there are none. */
    labels: RunLabels.optional(),
    requestedBy: Actor,
    requestedAt: Instant,
    deadlineAt: Instant,
    /** Who asked was no operator then: the exact commands of what he asked for are judged before they run. */
    judgeCommands: z.literal(true).optional(),
    /** What a line without a type meant when it was asked; absent: `unconditional`, as it was once. The constellation has its types. */
    untypedLines: z.literal('success-only').optional(),
  }),
  /**
   * Also the creation: then `origin` says where the constellation stands (a programmatic one is stored once, in RUN_REQUESTED).
   * An edit that changes nothing keeps the revision; it ends its round all the same.
   */
  CONSTELLATION_MODIFIED: z.strictObject({
    revision: z.int().min(0),
    origin: z.enum(['request', 'planner', 'operator']),
    /** Tasks and lines of the constellation afterwards. */
    tasks: z.int().min(0),
    lines: z.int().min(0),
    modifiedAt: Instant,
    /** The round it ends; absent for an operator's edit. */
    editId: EditId.optional(),
    try: z.int().min(1).optional(),
    edits: z.array(RecordedEdit).optional(),
    /** New or changed lines whose predecessor had ended before: judged at once. */
    judged: z.array(LineResult).optional(),
    state: PlannerState.optional(),
    proposedBy: Actor.optional(),
    trace: EditTrace.optional(),
    planHash: Sha256.nullable().optional(),
    source: PlanSource.optional(),
    /** A model may have written it, or somebody who was no operator: the exact commands that it defines are judged like an agent's before they run. */
    judgeCommands: z.literal(true).optional(),
    /** Of a plan that begins: targets, besides those of its tasks, that later edits of a model may use. */
    spare: z.array(Target).max(50).optional(),
    /** With FINISH and FAIL. */
    answer: FinalAnswer.optional(),
    /** What the planner used up of the run's budget for it. */
    used: Usage.optional(),
  }),
  /** The lock is taken: until the round ends the tasks that `lockPolicy` covers neither start nor are skipped (paper, algorithm 1). */
  EDIT_OPENED: z.strictObject({
    editId: EditId,
    mode: z.enum(['creation', 'editing']),
    triggers: z.array(EditTrigger).min(1),
    revision: z.int().min(0),
    lockPolicy: LockPolicy,
    openedAt: Instant,
    /** The run goes on without the planner after this. */
    deadlineAt: Instant,
    /** What the planner may use up of the run's budget in this round. */
    budget: Budget.optional(),
  }),
  /** Nothing of the proposal was applied. The round goes on until the deadline or the last repair, under `lockPolicy`. */
  EDIT_REJECTED: z.strictObject({
    editId: EditId,
    try: z.int().min(1),
    revision: z.int().min(0),
    violations: z.array(EditViolation).min(1),
    lockPolicy: LockPolicy,
    proposedBy: Actor,
    rejectedAt: Instant,
    planHash: Sha256.nullable(),
    used: Usage.optional(),
  }),
  EDIT_ABANDONED: z.strictObject({
    editId: EditId,
    reason: z.strictObject({
      /** TOO_MANY_ROUNDS: the planner has asked its model as often as it may; no round is opened any more. */
      code: z.enum(['DEADLINE', 'REPAIRS_EXHAUSTED', 'RUN_ENDING', 'PLANNER_FAILED', 'TOO_MANY_ROUNDS']),
      message: z.string(),
    }),
    abandonedAt: Instant,
    /** PLANNER_FAILED, TOO_MANY_ROUNDS: end of the chain of the planner's steps that led there. */
    planHash: Sha256.nullable().optional(),
    used: Usage.optional(),
  }),
  TASKS_WAITING: TasksWaiting,
  FAN_OUT_STARTED: FanOutStarted,
  WAVE_STARTED: WaveStarted,
  /** This *is* the dispatch and the assignment (I1): the device agent acts on it, nothing else is sent. */
  TASK_STARTED: z.strictObject({
    taskId: TaskId,
    attempt: attempt.min(1),
    deviceId: DeviceId,
    sessionId: SessionId,
    journalId: JournalId.nullable(),
    /** The exact call to make; absent: the device's agent does the work, as `agent` says. Exactly one of the two is there. */
    command: PlannedCall.optional(),
    /** The command and the post-condition are judged before they run: a model may have written them, or who is no operator. */
    judge: z.literal(true).optional(),
    agent: AgentOrder.optional(),
    verify: Verification.optional(),
    /** What this attempt may use up of the run's budget; its end says what it did use. */
    budget: Budget.optional(),
    approval: ApprovalMode.optional(),
    /**
     * Whose outputs the command takes (of an agent's task: its predecessors'), named by the attempt that made them, in the order they are delivered. `runId` when the
     * attempt belongs to a run that this one was forked from.
     */
    inputs: z.array(
      z.strictObject({
        taskId: TaskId,
        attempt: attempt.min(1),
        runId: RunId.optional(),
        /** What an agent is given of its result; the text of the whole when absent. */
        field: FieldPath.optional(),
        /** The task on several devices that was named, of which this is one device. */
        of: TaskId.optional(),
      }),
    ),
    /** What it takes of the attempts that are named, and what it leaves for others. */
    files: AttemptFiles.optional(),
    /** Its commands begin in the workspace of the run. */
    workspace: z.literal(true).optional(),
    priority: z.int(),
    startedAt: Instant,
    /** When the attempt is told to stop; also the instant after which nobody may start it any more. */
    timeoutAt: Instant,
  }),
  /** Attempt 0 and no hash of a task on several devices: it has no attempts, and its result says what became of each of them. */
  TASK_COMPLETED: z.strictObject({
    taskId: TaskId,
    attempt,
    result: TaskResult,
    lines: z.array(LineResult),
    completedAt: Instant,
    attemptHash: Sha256.nullable(),
    used: Usage.optional(),
    notes: z.array(Note).optional(),
  }),
  /** Attempt 0 and no hash when the task never started (never satisfiable, or its deadline passed). */
  TASK_FAILED: z.strictObject({
    taskId: TaskId,
    attempt,
    error: TaskError,
    lines: z.array(LineResult),
    failedAt: Instant,
    attemptHash: Sha256.nullable(),
    used: Usage.optional(),
    notes: z.array(Note).optional(),
  }),
  TASK_STOP_REQUESTED: z.strictObject({
    taskId: TaskId,
    attempt: attempt.min(1),
    reason: StopReason,
    by: Actor.optional(),
    /** Why, in the words of the person who asked. */
    note: z.string().max(1_000).optional(),
    requestedAt: Instant,
    graceUntil: Instant,
  }),
  TASK_REOPENED: z.strictObject({
    taskId: TaskId,
    /** The last attempt; the next one has the number after it. */
    attempt,
    /** `not_sent`: nothing of the last attempt reached a device, so it does not count as one of the tries. */
    reason: z.enum(['retry_policy', 'operator', 'not_sent']),
    by: Actor.optional(),
    notBefore: Instant,
    /** Judged lines that are open again: those out of the task whose target has not run, and those into it whose source is open. */
    lines: z.array(LineId).optional(),
    /** Lines into it that were undecided, judged once more: their sources have ended, so nothing else would. */
    judged: z.array(LineResult).optional(),
  }),
  /** `by: condition` when a condition (its own or further up) chose another branch; `by: failure` when a predecessor failed. */
  TASK_SKIPPED: z.strictObject({
    taskId: TaskId,
    by: z.enum(['condition', 'failure']),
    lineId: LineId,
    reason: z.string(),
    lines: z.array(LineResult),
    skippedAt: Instant,
  }),
  TASK_CANCELLED: z.strictObject({
    taskId: TaskId,
    attempt,
    reason: StopReason,
    by: Actor.optional(),
    note: z.string().max(1_000).optional(),
    lines: z.array(LineResult),
    cancelledAt: Instant,
    /** What the stopped attempt had answered until then, and the end of its steps. */
    output: TaskResult.optional(),
    attemptHash: Sha256.nullable().optional(),
    used: Usage.optional(),
  }),
  /** An attempt waits for a person. */
  APPROVAL_REQUESTED: z.strictObject({
    taskId: TaskId,
    attempt: attempt.min(1),
    ask: Ask,
    requestedAt: Instant,
    attemptHash: Sha256,
    /** How many persons may approve it, where they were fewer than it takes when it was asked. */
    approvers: z.int().min(0).optional(),
  }),
  APPROVAL_GIVEN: ApprovalGiven,
  /**
   * Exactly one for a request whose attempt still waits, and one more when a grant is revoked. `grant`: the same command on the
   * same device in this run needs no other word until then; what it lets through is decided by the grant, named in `grantOf`.
   */
  APPROVAL_DECIDED: z.strictObject({
    taskId: TaskId,
    attempt: attempt.min(1),
    ...Decided.shape,
    grant: z.strictObject({ until: Instant }).optional(),
    grantOf: ApprovalId.optional(),
    /** It was approved before, with the whole plan, by those who are named. */
    standing: StandingUse.optional(),
    /** Whose words it took, where it took more than that of `by`. */
    approvedBy: z.array(Actor).min(1).max(LIMITS.approvalsMax).optional(),
    /** Whoever approved it had a part in it: there was one approver only. */
    selfApproved: z.literal(true).optional(),
    decidedAt: Instant,
  }),
  /** A person accepts a plan that takes more than this one word; it counts for this revision of the plan. */
  PLAN_ACCEPTED: z.strictObject({ by: Actor, revision: z.int().min(0), acceptedAt: Instant }),
  RUN_COMPLETED: z.strictObject({
    outcome: RunOutcome,
    counts: TaskCounts,
    completedAt: Instant,
    /** Of a goal: the one reply to the requester. */
    answer: FinalAnswer.optional(),
  }),
  RUN_FAILED: z.strictObject({
    reason: z.strictObject({ code: z.string(), message: z.string() }),
    counts: TaskCounts,
    failedAt: Instant,
    answer: FinalAnswer.optional(),
  }),
  RUN_CANCELLED: z.strictObject({ by: Actor, reason: z.string(), counts: TaskCounts, cancelledAt: Instant }),
  /** Facts are recorded, nothing new starts. `actor` when a person paused it. */
  RUN_PAUSED: z.strictObject({
    by: z.enum(['system', 'operator']),
    actor: Actor.optional(),
    reason: z.string(),
    pausedAt: Instant,
    /** Why a system paused it: its plan waits for a person. */
    waitsFor: z.literal('plan_approval').optional(),
  }),
  RUN_RESUMED: z.strictObject({
    by: Actor,
    resumedAt: Instant,
    /** Of a plan that was accepted by more words than that of `by`. */
    approvedBy: z.array(Actor).min(1).max(LIMITS.approvalsMax).optional(),
    /** Whoever accepted the plan had a part in it: there was one approver only. */
    selfApproved: z.literal(true).optional(),
    /** The plan was approved before it was made, by those who are named. */
    standing: StandingUse.optional(),
  }),
  /** The planner is asked about them: in the next round, with what else there is to look at. */
  WORDS_SAID: SaidWords,
  /** A value was put on the board of the run, or taken off. */
  BOARD_WRITTEN: BoardWritten,
  /** The device may remove the directory that it keeps of the run, which has ended: it is told until it has noted it. */
  WORKSPACE_DISCARDED: z.strictObject({ deviceId: DeviceId, by: Actor, discardedAt: Instant }),
  /** The end of the run is taken back, by an operator's RETRY or by words to it; the deadline counts from now. */
  RUN_REOPENED: z.strictObject({ by: Actor, reopenedAt: Instant, deadlineAt: Instant }),
  /** Beside the history, never in it. */
  RUN_ANNOTATED: RunAnnotation,
  /** First event of a run that begins where another one stood after `parent.sequence`; it needs nothing of the other one. */
  RUN_FORKED: z.strictObject({
    requestId: RequestId,
    namespace: z.string(),
    parent: z.strictObject({ runId: RunId, sequence: z.int().min(1), number: z.int().min(1), hash: Sha256 }),
    /** What the parent was asked; the deadline counts from the fork. */
    contentHash: Sha256,
    goal: z.string().nullable(),
    options: RunOptions,
    metadata: z.record(z.string(), Json),
    labels: RunLabels.optional(),
    requestedBy: Actor,
    forkedAt: Instant,
    deadlineAt: Instant,
    name: z.string(),
    revision: z.int().min(0),
    tasks: z.array(ForkedTask),
    lines: z.array(ForkedLine),
    /** Ids that were removed: they are never used again. */
    usedIds: z.array(z.string()),
    /** What the parent's planner had not looked at yet. */
    triggers: z.array(EditTrigger),
    /** What agents of the parent had noted. */
    blackboard: z.array(BlackboardNote).optional(),
    /** Where edits of a model may run things; null: everywhere. */
    scope: z.array(Target).nullable().optional(),
    /** What its first plan came from; absent where nobody planned, or nobody said. */
    planSource: PlanSource.optional(),
    /** Its plan waited for a person, and waits here, too. */
    waitsFor: z.literal('plan_approval').optional(),
    /** Who had a part in what it takes over: they approve nothing here either. Absent in what was forked before this was known. */
    authors: z.array(Actor).optional(),
    /** Who asked for what it goes on with was no operator then. */
    judgeCommands: z.literal(true).optional(),
    /** What was said to the parent until then; absent where nothing was. */
    words: z.array(SaidWords).max(LIMITS.wordsMax).optional(),
    /** The board of the parent as it was then, and how often it was written; absent where it never was. */
    board: z
      .strictObject({
        revision: z.int().min(1),
        written: z.int().min(0),
        entries: z.array(BoardEntry).max(LIMITS.boardEntriesMax),
      })
      .optional(),
  }),
} as const;

export type RunEventType = keyof typeof SCHEMAS;
export const RUN_EVENT_TYPES = Object.keys(SCHEMAS) as RunEventType[];

/** All a run's subject may hold. Fields are only ever added; a changed meaning is a new schema version plus an upcaster. */
export const RecordedRunEvent = recordedEvent(SCHEMAS);
export type RecordedRunEvent = z.infer<typeof RecordedRunEvent>;

/** An event before it is recorded: what `decide` makes and `evolve` folds. */
export type RunEvent = EventOf<typeof SCHEMAS>;
export type RunEventData<T extends RunEventType> = z.infer<(typeof SCHEMAS)[T]>;

/** One message of `orrery.run.<runId>`: the 1..n events decided together. */
export const RunCommit = z.strictObject({ ...commitShape, runId: RunId, events: recordedEvents(RecordedRunEvent) });
export type RunCommit = z.infer<typeof RunCommit>;

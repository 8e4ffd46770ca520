import { z } from 'zod';
import { commitShape, eventEnvelope } from './commit.js';
import { CommandCall, RunOutcome, TaskConstellation } from './constellation.js';
import { DeviceId, Instant, JournalId, Json, LineId, RequestId, RunId, SessionId, Sha256, TaskId } from './ids.js';
import { RunOptions } from './request.js';
import { TaskError, TaskResult } from './result.js';

const attempt = z.int().min(0);

/** Who asked: from the credential of the sender, never from its message. */
export const Actor = z.strictObject({ kind: z.enum(['person', 'system', 'external']), id: z.string().min(1).max(128) });
export type Actor = z.infer<typeof Actor>;

/** What a line came to when its predecessor ended. `reason` is there when it is not satisfied. */
export const LineResult = z.strictObject({ id: LineId, satisfied: z.boolean(), reason: z.string().optional() });
export type LineResult = z.infer<typeof LineResult>;

export const RunRequested = z.strictObject({
  requestId: RequestId,
  namespace: z.string(),
  /** SHA-256 of the canonical request: the same request id with another content is a conflict. */
  contentHash: Sha256,
  goal: z.string().nullable(),
  constellation: TaskConstellation.nullable(),
  options: RunOptions,
  metadata: z.record(z.string(), Json),
  requestedBy: Actor,
  requestedAt: Instant,
  deadlineAt: Instant,
});

/** Also the creation: then `origin` says where the constellation stands (a programmatic one is stored once, in RUN_REQUESTED). */
export const ConstellationModified = z.strictObject({
  revision: z.int().min(1),
  origin: z.enum(['request']),
  tasks: z.int().min(0),
  lines: z.int().min(0),
  modifiedAt: Instant,
});

/** This *is* the dispatch and the assignment (I1): the device agent acts on it, nothing else is sent. */
export const TaskStarted = z.strictObject({
  taskId: TaskId,
  attempt: attempt.min(1),
  deviceId: DeviceId,
  sessionId: SessionId,
  journalId: JournalId.nullable(),
  command: CommandCall,
  /** Whose outputs the command takes, named by the attempt that made them, in the order they are delivered. */
  inputs: z.array(z.strictObject({ taskId: TaskId, attempt: attempt.min(1) })),
  priority: z.int(),
  startedAt: Instant,
  /** When the attempt is told to stop; also the instant after which nobody may start it any more. */
  timeoutAt: Instant,
});

export const TaskCompleted = z.strictObject({
  taskId: TaskId,
  attempt: attempt.min(1),
  result: TaskResult,
  lines: z.array(LineResult),
  completedAt: Instant,
  attemptHash: Sha256,
});

/** Attempt 0 and no hash when the task never started (never satisfiable, or its deadline passed). */
export const TaskFailed = z.strictObject({
  taskId: TaskId,
  attempt,
  error: TaskError,
  lines: z.array(LineResult),
  failedAt: Instant,
  attemptHash: Sha256.nullable(),
});

export const StopReason = z.enum(['timeout', 'run_deadline', 'cancelled']);
export type StopReason = z.infer<typeof StopReason>;

export const TaskStopRequested = z.strictObject({
  taskId: TaskId,
  attempt: attempt.min(1),
  reason: StopReason,
  requestedAt: Instant,
  graceUntil: Instant,
});

export const TaskReopened = z.strictObject({
  taskId: TaskId,
  /** The attempt that failed; the next one has the number after it. */
  attempt,
  reason: z.enum(['retry_policy']),
  notBefore: Instant,
});

/** `by: condition` when a condition (its own or further up) chose another branch; `by: failure` when a predecessor failed. */
export const TaskSkipped = z.strictObject({
  taskId: TaskId,
  by: z.enum(['condition', 'failure']),
  lineId: LineId,
  reason: z.string(),
  lines: z.array(LineResult),
  skippedAt: Instant,
});

export const TaskCancelled = z.strictObject({
  taskId: TaskId,
  attempt,
  reason: StopReason,
  lines: z.array(LineResult),
  cancelledAt: Instant,
});

export const TaskCounts = z.strictObject({
  completed: z.int(),
  failed: z.int(),
  skipped: z.int(),
  cancelled: z.int(),
});

export const RunCompleted = z.strictObject({ outcome: RunOutcome, counts: TaskCounts, completedAt: Instant });
export const RunFailed = z.strictObject({
  reason: z.strictObject({ code: z.string(), message: z.string() }),
  counts: TaskCounts,
  failedAt: Instant,
});
export const RunPaused = z.strictObject({ by: z.enum(['system']), reason: z.string(), pausedAt: Instant });
export const RunAnnotated = z.strictObject({
  kind: z.enum(['late_result']),
  taskId: TaskId,
  attempt,
  text: z.string(),
  attemptHash: Sha256,
  annotatedAt: Instant,
});

const SCHEMAS = {
  RUN_REQUESTED: RunRequested,
  CONSTELLATION_MODIFIED: ConstellationModified,
  TASK_STARTED: TaskStarted,
  TASK_COMPLETED: TaskCompleted,
  TASK_FAILED: TaskFailed,
  TASK_STOP_REQUESTED: TaskStopRequested,
  TASK_REOPENED: TaskReopened,
  TASK_SKIPPED: TaskSkipped,
  TASK_CANCELLED: TaskCancelled,
  RUN_COMPLETED: RunCompleted,
  RUN_FAILED: RunFailed,
  RUN_PAUSED: RunPaused,
  RUN_ANNOTATED: RunAnnotated,
} as const;

export type RunEventType = keyof typeof SCHEMAS;
export const RUN_EVENT_TYPES = Object.keys(SCHEMAS) as RunEventType[];

const recorded = <T extends RunEventType>(type: T) =>
  z.strictObject({ ...eventEnvelope, type: z.literal(type), data: SCHEMAS[type] });

/** All a run's subject may hold. Fields are only ever added; a changed meaning is a new schema version plus an upcaster. */
export const RecordedRunEvent = z.discriminatedUnion('type', [
  recorded('RUN_REQUESTED'),
  recorded('CONSTELLATION_MODIFIED'),
  recorded('TASK_STARTED'),
  recorded('TASK_COMPLETED'),
  recorded('TASK_FAILED'),
  recorded('TASK_STOP_REQUESTED'),
  recorded('TASK_REOPENED'),
  recorded('TASK_SKIPPED'),
  recorded('TASK_CANCELLED'),
  recorded('RUN_COMPLETED'),
  recorded('RUN_FAILED'),
  recorded('RUN_PAUSED'),
  recorded('RUN_ANNOTATED'),
]);
export type RecordedRunEvent = z.infer<typeof RecordedRunEvent>;

/** An event before it is recorded: what `decide` makes and `evolve` folds. */
export type RunEvent = {
  [T in RunEventType]: { type: T; data: z.infer<(typeof SCHEMAS)[T]> };
}[RunEventType];
export type RunEventData<T extends RunEventType> = z.infer<(typeof SCHEMAS)[T]>;

/** One message of `orrery.run.<runId>`: the 1..n events decided together. */
export const RunCommit = z.strictObject({ ...commitShape, runId: RunId, events: z.array(RecordedRunEvent).min(1) });
export type RunCommit = z.infer<typeof RunCommit>;

import { z } from 'zod';
import { commitShape, eventEnvelope } from './commit.js';
import { CommandCall } from './constellation.js';
import { CommandId, DeviceId, Instant, RunId, SessionId, TaskId } from './ids.js';
import { StopReason } from './run-events.js';
import { TaskError, TaskResult } from './result.js';

/** Identifies one try of one task: fences every dispatch, command and result. */
export const AttemptKey = z.strictObject({ runId: RunId, taskId: TaskId, attempt: z.int().min(1) });
export type AttemptKey = z.infer<typeof AttemptKey>;

/** Every command ends in exactly one of these. */
export const CommandState = z.enum(['COMPLETED', 'FAILED', 'TIMED_OUT', 'CANCELLED', 'OUTCOME_UNKNOWN']);
export type CommandState = z.infer<typeof CommandState>;

export const AttemptResumed = z.strictObject({ instance: z.string() });

export const AttemptSignalled = z.strictObject({
  signal: z.literal('stop'),
  reason: StopReason,
  graceUntil: Instant,
});

export const CommandFinished = z.strictObject({
  commandId: CommandId,
  deviceId: DeviceId,
  sessionId: SessionId,
  command: CommandCall,
  state: CommandState,
  result: TaskResult.nullable(),
  error: TaskError.nullable(),
  /** By the device's clock: an annotation, never compared with server time. */
  startedAt: Instant.nullable(),
  durationMs: z.number().min(0).nullable(),
});

/** Exactly one per attempt, on the subject `.end`. */
export const AttemptFinished = z.discriminatedUnion('status', [
  z.strictObject({ status: z.literal('completed'), result: TaskResult }),
  z.strictObject({ status: z.literal('failed'), error: TaskError }),
]);
export type AttemptFinished = z.infer<typeof AttemptFinished>;

const SCHEMAS = {
  ATTEMPT_RESUMED: AttemptResumed,
  ATTEMPT_SIGNALLED: AttemptSignalled,
  COMMAND_FINISHED: CommandFinished,
  ATTEMPT_FINISHED: AttemptFinished,
} as const;

export type AttemptEventType = keyof typeof SCHEMAS;
export const ATTEMPT_EVENT_TYPES = Object.keys(SCHEMAS) as AttemptEventType[];

const recorded = <T extends AttemptEventType>(type: T) =>
  z.strictObject({ ...eventEnvelope, type: z.literal(type), data: SCHEMAS[type] });

export const RecordedAttemptEvent = z.discriminatedUnion('type', [
  recorded('ATTEMPT_RESUMED'),
  recorded('ATTEMPT_SIGNALLED'),
  recorded('COMMAND_FINISHED'),
  recorded('ATTEMPT_FINISHED'),
]);
export type RecordedAttemptEvent = z.infer<typeof RecordedAttemptEvent>;

export type AttemptEvent = {
  [T in AttemptEventType]: { type: T; data: z.infer<(typeof SCHEMAS)[T]> };
}[AttemptEventType];

/** One message of `orrery.attempt.<p>.<runId>.<taskId>.<attempt>.<kind>`. */
export const AttemptCommit = z.strictObject({
  ...commitShape,
  ...AttemptKey.shape,
  events: z.array(RecordedAttemptEvent).min(1),
});
export type AttemptCommit = z.infer<typeof AttemptCommit>;

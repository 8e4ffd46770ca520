import { z } from 'zod';
import { AttemptKey, CommandState } from './attempt-events.js';
import { CommandCall } from './constellation.js';
import { CommandId, DeviceId, Instant, JournalId, Json, RunId, SessionId } from './ids.js';
import { Refusal, RunRequest } from './request.js';
import { Actor } from './run-events.js';
import { TaskError } from './result.js';

/** Request on `orrery.device.<deviceId>.command`: run one command, stop an attempt, or forget a result that is stored. */
export const DeviceRequest = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('run'),
    commandId: CommandId,
    attempt: AttemptKey,
    deviceId: DeviceId,
    /** The session and journal named in TASK_STARTED: another one answers OUTCOME_UNKNOWN and never executes. */
    sessionId: SessionId,
    journalId: JournalId.nullable(),
    command: CommandCall,
    priority: z.int(),
    /** Server time after which gateway and device refuse to start it; unchanged in its repeats. */
    notAfter: Instant,
  }),
  z.strictObject({ kind: z.literal('stop'), attempt: AttemptKey, deviceId: DeviceId }),
  z.strictObject({ kind: z.literal('stored'), commandId: CommandId, deviceId: DeviceId }),
]);
export type DeviceRequest = z.infer<typeof DeviceRequest>;
export type RunCommandRequest = Extract<DeviceRequest, { kind: 'run' }>;

/** What became of a command, as the device client reports it. `result` is the tool's structured answer, uncut. */
export const CommandOutcome = z.strictObject({
  state: CommandState,
  result: Json.nullable(),
  error: TaskError.nullable(),
  startedAt: Instant.nullable(),
  durationMs: z.number().min(0).nullable(),
});
export type CommandOutcome = z.infer<typeof CommandOutcome>;

/** Answered within 10 s; the caller repeats the same id until it is `finished` or `refused`. */
export const DeviceAnswer = z.discriminatedUnion('state', [
  z.strictObject({ state: z.literal('finished'), outcome: CommandOutcome }),
  z.strictObject({ state: z.literal('queued') }),
  z.strictObject({ state: z.literal('running') }),
  /** Was not and will not be executed by this request. */
  z.strictObject({ state: z.literal('refused'), code: z.string(), message: z.string() }),
  z.strictObject({ state: z.literal('done') }),
]);
export type DeviceAnswer = z.infer<typeof DeviceAnswer>;

/** Verbs of people and programs on `orrery.command.<p>.<runId>.<VERB>`. */
export const Verb = z.enum(['SUBMIT']);
export type Verb = z.infer<typeof Verb>;

/** Body of SUBMIT, sent by an entry point that has parsed the request and derived the run id. */
export const SubmitCommand = z.strictObject({
  id: z.string().min(1).max(128),
  actor: Actor,
  namespace: z.string().min(1).max(64),
  runId: RunId,
  request: RunRequest,
});
export type SubmitCommand = z.infer<typeof SubmitCommand>;

/** The one final answer of a verb; `TRY_AGAIN` in `reason.code` when the outcome is not known in time. */
export const VerbAnswer = z.strictObject({
  answer: z.enum(['accepted', 'ignored', 'rejected']),
  reason: Refusal.optional(),
  /** Event sequence of the run after the commit that followed. */
  sequence: z.int().min(0),
});
export type VerbAnswer = z.infer<typeof VerbAnswer>;

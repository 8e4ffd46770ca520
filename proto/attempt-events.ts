import { z } from 'zod';
import { Ask, ApprovalId, Decided } from './approvals.js';
import { Usage } from './budget.js';
import { commitShape, type EventOf, recordedEvent, recordedEvents } from './commit.js';
import { CommandCall } from './constellation.js';
import { CommandId, DeviceId, Instant, JournalId, Json, RunId, SessionId, Sha256, TaskId } from './ids.js';
import { LIMITS } from './limits.js';
import { ModelCall, Note } from './model.js';
import { PolicyVerdict } from './policy.js';
import { AskedWall } from './walls.js';
import { StopReason } from './run-events.js';
import { ArtifactRef, TaskError, TaskResult } from './result.js';

/** Identifies one try of one task: fences every dispatch, command and result. */
export const AttemptKey = z.strictObject({ runId: RunId, taskId: TaskId, attempt: z.int().min(1) });
export type AttemptKey = z.infer<typeof AttemptKey>;

/** Every command ends in exactly one of these. */
export const CommandState = z.enum(['COMPLETED', 'FAILED', 'TIMED_OUT', 'CANCELLED', 'OUTCOME_UNKNOWN']);
export type CommandState = z.infer<typeof CommandState>;

/** Counts the turns of an attempt from 1; everything that belongs to one turn carries its number. */
const step = z.int().min(1);

/** Requests to models in one step, at most: its tries, each with its retries at one endpoint after the other. */
const MODEL_CALLS_MAX = 64;

/**
 * Named by the first fact of an agent, in ARTIFACTS: the device as the agent was told of it when the attempt began. Whoever
 * runs the agent again tells it the same, whatever the device is by then.
 */
const given = ArtifactRef.optional();

const commandShape = {
  /** 0 for the exact command of a task that is judged; an agent's and those after it count from 1. */
  step: z.int().min(0),
  /** Position among the commands of the step. */
  index: z.int().min(0),
  commandId: CommandId,
  command: CommandCall,
} as const;

const endShape = {
  /** What the attempt used up; absent where nothing was counted. */
  used: Usage.optional(),
  /** What its agents noted for the others of the run. */
  notes: z.array(Note).max(50).optional(),
} as const;

const SCHEMAS = {
  ATTEMPT_RESUMED: z.strictObject({ instance: z.string() }),
  /** What the run says to an attempt while it is carried out. */
  ATTEMPT_SIGNALLED: z.discriminatedUnion('signal', [
    z.strictObject({ signal: z.literal('stop'), reason: StopReason, graceUntil: Instant }),
    z.strictObject({ signal: z.literal('decision'), ...Decided.shape }),
  ]),
  /** The model spoke, and what it said can be used: the plan of one step. Recorded before anything follows from it. */
  STEP_PLANNED: z.strictObject({
    step,
    /** Which agent of the attempt, e.g. `LinuxAgent`. */
    agent: z.string().min(1).max(64),
    /** All calls of the step: the last one's reply is the plan, those before it were refused. */
    calls: z.array(ModelCall).min(1).max(MODEL_CALLS_MAX),
    templates: z.array(z.strictObject({ id: z.string().max(128), hash: Sha256 })).max(20),
    /** The reply as it was parsed. */
    reply: Json,
    /** Out of it, for people: hostile text. */
    status: z.string().max(64),
    observation: z.string().max(20_000),
    thought: z.string().max(20_000),
    plan: z.array(z.string().max(2_000)).max(50),
    comment: z.string().max(4_000),
    notes: z.array(Note).max(20),
    /** Why nothing was tried of what the step before it wanted: a tool that is not there, an argument that is missing. */
    told: z.array(z.string().max(2_000)).max(20).optional(),
    given,
  }),
  /** No reply of the model could be used, or there was none: the end follows. */
  STEP_FAILED: z.strictObject({
    step,
    agent: z.string().min(1).max(64),
    calls: z.array(ModelCall).max(MODEL_CALLS_MAX),
    error: z.strictObject({ code: z.string().max(64), message: z.string().max(2_000) }),
    given,
  }),
  /** What the policy said about a command, before anything was done with it. */
  COMMAND_JUDGED: z.strictObject({
    ...commandShape,
    ...PolicyVerdict.shape,
    /**
     * `agent`: a model proposed it. `person`: one changed it. `verify`: the task's post-condition. `plan`: the task's exact command, which a
     * model may have written. `device`: it was issued, and its device, which judges with its files before it, did not run it but wants a
     * person to be asked.
     */
    origin: z.enum(['agent', 'person', 'verify', 'plan', 'device']),
    /** What it would be given, of what a person is asked about or has changed. */
    wall: AskedWall.optional(),
    policyHash: Sha256,
    given,
  }),
  /** The attempt waits for a person: on the subject `.ask`, where the orchestrator reads it. */
  ATTEMPT_ASKED: Ask,
  /** The command may run: recorded before it is sent. */
  COMMAND_ISSUED: z.strictObject({
    ...commandShape,
    deviceId: DeviceId,
    sessionId: SessionId,
    journalId: JournalId.nullable(),
    notAfter: Instant,
    approvalId: ApprovalId.optional(),
  }),
  COMMAND_FINISHED: z.strictObject({
    commandId: CommandId,
    deviceId: DeviceId,
    sessionId: SessionId,
    command: CommandCall,
    state: CommandState,
    /** Gateway or device did not take it: it never ran, and `error` says why. */
    refused: z.literal(true).optional(),
    result: TaskResult.nullable(),
    error: TaskError.nullable(),
    /** By the device's clock: an annotation, never compared with server time. */
    startedAt: Instant.nullable(),
    durationMs: z.number().min(0).nullable(),
  }),
  /** Its agent read or wrote the board of the run: what it was told of it, which is told again to whoever runs it again. */
  BOARD_USED: z.strictObject({
    step,
    index: z.int().min(0),
    does: z.enum(['read', 'write']),
    /** Without one the whole board was listed. */
    name: z.string().max(64).optional(),
    /** False: nothing stood there, or nothing was written; the text says why. */
    done: z.boolean(),
    text: z.string().max(LIMITS.boardToldCharsMax),
  }),
  /** Whether the task's post-condition holds. */
  POSTCONDITION_CHECKED: z.strictObject({
    satisfied: z.boolean(),
    reason: z.string().max(2_000),
    /** Nobody can say whether it holds, which is not a no; `satisfied` is false then. */
    undecided: z.literal(true).optional(),
    /** The command that was run for it. */
    commandId: CommandId.optional(),
  }),
  /**
   * The run has ended, and its policy keeps these pictures of screens no longer: recorded before they are taken out of ARTIFACTS. What
   * names them by their hash stays as it was.
   */
  PICTURES_DROPPED: z.strictObject({
    /** The rule in words. */
    rule: z.string().min(1).max(200),
    pictures: z.array(ArtifactRef).min(1).max(LIMITS.picturesDroppedMax),
  }),
  /** Exactly one per attempt, on the subject `.end`. The result of an agent's task is the text it finished with. */
  ATTEMPT_FINISHED: z.discriminatedUnion('status', [
    z.strictObject({ status: z.literal('completed'), result: TaskResult, ...endShape }),
    z.strictObject({ status: z.literal('failed'), error: TaskError, ...endShape }),
  ]),
} as const;
export type CommandFinished = z.infer<(typeof SCHEMAS)['COMMAND_FINISHED']>;
export type AttemptFinished = z.infer<(typeof SCHEMAS)['ATTEMPT_FINISHED']>;

export type AttemptEventType = keyof typeof SCHEMAS;
export const ATTEMPT_EVENT_TYPES = Object.keys(SCHEMAS) as AttemptEventType[];

export const RecordedAttemptEvent = recordedEvent(SCHEMAS);
export type RecordedAttemptEvent = z.infer<typeof RecordedAttemptEvent>;

export type AttemptEvent = EventOf<typeof SCHEMAS>;

/** One message of `orrery.attempt.<p>.<runId>.<taskId>.<attempt>.<kind>`. */
export const AttemptCommit = z.strictObject({
  ...commitShape,
  ...AttemptKey.shape,
  events: recordedEvents(RecordedAttemptEvent),
});
export type AttemptCommit = z.infer<typeof AttemptCommit>;

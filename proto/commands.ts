import { z } from 'zod';
import { ApprovalId } from './approvals.js';
import { AttemptKey, CommandState } from './attempt-events.js';
import { CommandCall } from './constellation.js';
import { Actor, KeptProof } from './actors.js';
import { CommandClass, PolicyDecision } from './policy.js';
import { DeviceWorkspace } from './files.js';
import { CommandId, DeviceId, Instant, JournalId, Json, RunId, SessionId, Sha256 } from './ids.js';
import { LIMITS } from './limits.js';
import { RunRequest } from './request.js';
import { ArtifactRef, ResultFiles, TaskError } from './result.js';
import { CommandWall } from './walls.js';

/**
 * That a command was judged before it was sent, and how: the device judges again and may only be stricter. Absent for an exact
 * command of a request, which its requester wrote.
 */
export const Judged = z.strictObject({
  class: CommandClass,
  decision: PolicyDecision,
  rule: z.string().max(128),
  /** The approval that let it through. */
  approvalId: ApprovalId.optional(),
});
export type Judged = z.infer<typeof Judged>;

/** A piece of a standard input: a text, or the bytes of an artifact, which the device gets as a file. */
export const StdinPart = z.union([z.strictObject({ text: z.string() }), z.strictObject({ artifact: ArtifactRef })]);
export type StdinPart = z.infer<typeof StdinPart>;

/**
 * What becomes of the argument `stdin: {"from": [...]}` on its way to a device that takes it as a file, when its text does not
 * fit into a command: the pieces, in the order in which they are read.
 */
export const StdinParts = z.strictObject({ parts: z.array(StdinPart).min(1).max(LIMITS.stdinPartsMax) });
export type StdinParts = z.infer<typeof StdinParts>;

/** Capability of a device: what a command reads may come to it in pieces, of which it gets the artifacts as files. */
export const TAKES_STDIN_FILES = 'stdin_files';

/** Request on `orrery.device.<deviceId>.command`: run one command, stop an attempt, forget a result that is stored, say whether a command was sent, or end and list workspaces. */
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
    judged: Judged.optional(),
    /** What its approval gives it: the device makes the wall, never a wider one. */
    wall: CommandWall.optional(),
    /** It runs in the workspace of its run. Only a device that keeps workspaces takes it. */
    workspace: z.literal(true).optional(),
    /** When its attempt was started: of a run that had ended by then nothing begins in a workspace any more, of one that was opened again it does. */
    startedAt: Instant.optional(),
    priority: z.int(),
    /** Server time after which gateway and device refuse to start it; unchanged in its repeats. */
    notAfter: Instant,
  }),
  z.strictObject({ kind: z.literal('stop'), attempt: AttemptKey, deviceId: DeviceId }),
  z.strictObject({ kind: z.literal('stored'), commandId: CommandId, deviceId: DeviceId }),
  /**
   * On `orrery.device.<deviceId>.session.<sessionId>`, to the gateway that holds or held a session without a journal: was this
   * command sent in it? `running`: the session goes on. `refused` with NOT_SENT: it is over, and the command was not and will not
   * be sent in it. `done`: it is over, and the command may have been sent.
   */
  z.strictObject({
    kind: z.literal('sent'),
    commandId: CommandId,
    deviceId: DeviceId,
    sessionId: SessionId,
    notAfter: Instant,
  }),
  /** The run has ended: nothing of it begins any more, and its workspace goes unless it is kept. `done`: the device has noted it. */
  z.strictObject({
    kind: z.literal('forget'),
    runId: RunId,
    endedAt: Instant,
    keep: z.boolean(),
    deviceId: DeviceId,
  }),
  /** Which workspaces it has. */
  z.strictObject({ kind: z.literal('workspaces'), deviceId: DeviceId }),
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
  /** Strings of `result` that had to be cut to fit into a frame, and of which nobody has the whole. */
  incomplete: z.array(z.string()).max(LIMITS.incompletePathsMax).optional(),
  /** Files that the tool answered with, beside `result`. */
  files: ResultFiles.optional(),
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
  z.strictObject({
    state: z.literal('workspaces'),
    workspaces: z.array(DeviceWorkspace).max(LIMITS.workspacesListedMax),
    /** Of those that are not listed. */
    more: z.int().min(0),
  }),
]);
export type DeviceAnswer = z.infer<typeof DeviceAnswer>;

/** One piece of what a running command writes, on `orrery.output.<commandId>`: for people who watch. Whole it is in the result of the command. */
export const OutputChunk = z.strictObject({
  commandId: CommandId,
  deviceId: DeviceId,
  /** `thought`: what the model of an agent says while it says it; then the id is the one its next command would have. */
  stream: z.enum(['stdout', 'stderr', 'thought']),
  /** Bytes of that stream before this piece; larger than expected when pieces were left out. */
  offset: z.int().min(0),
  text: z.string(),
});
export type OutputChunk = z.infer<typeof OutputChunk>;

/** Body of SUBMIT, from the replica that has taken a request to the one that owns its run: proven, parsed, the run id derived. */
export const SubmitCommand = z.strictObject({
  id: z.string().min(1).max(128),
  actor: Actor,
  /** How the actor has proven it; a request that came from no more than its subject has none. */
  proof: KeptProof.optional(),
  namespace: z.string().min(1).max(64),
  /** The actor was an operator when the request came in: nothing of it is judged for who wrote it. */
  trusted: z.literal(true).optional(),
  runId: RunId,
  request: RunRequest,
  /** Content hash of the same request by what a line without a type meant once, where that makes a difference. */
  formerHash: Sha256.optional(),
});
export type SubmitCommand = z.infer<typeof SubmitCommand>;

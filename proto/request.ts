import { z } from 'zod';
import { ActorProof } from './actors.js';
import { Budget } from './budget.js';
import { TaskConstellation } from './constellation.js';
import { Json, RequestId, RunId } from './ids.js';
import { RunLabels } from './labels.js';
import { LIMITS } from './limits.js';
import { ApprovalMode, JudgedCommands } from './policy.js';

export const EditPolicy = z.enum(['every-result', 'when-needed', 'never']);
export type EditPolicy = z.infer<typeof EditPolicy>;

export const LockPolicy = z.enum(['strict', 'scoped']);
export type LockPolicy = z.infer<typeof LockPolicy>;

export const RunOptions = z.strictObject({
  /** When the planner is asked: after every result (the paper), when judgement is needed, or never. */
  editPolicy: EditPolicy.optional(),
  /** `strict`: nothing starts while an edit is open (paper section 6.3). `scoped`: only what is downstream of its triggers waits. */
  lockPolicy: LockPolicy.optional(),
  /** How long one edit round may take before the run goes on without it. */
  editDeadlineMs: z.int().min(100).max(LIMITS.wakeUpMsMax).optional(),
  /** Tasks of this run that may be running at a time. */
  concurrency: z.int().min(1).max(LIMITS.concurrencyMax).optional(),
  /** Among runs that wait for a slot, the higher one gets it first; 0 when absent. */
  priority: z.int().min(-100).max(100).optional(),
  /** From acceptance; afterwards what is pending is cancelled and what is running is stopped. */
  deadlineMs: z
    .int()
    .min(1_000)
    .max(LIMITS.timeoutMsMax * 7)
    .optional(),
  /** How long no connected device can take a ready task until its planner is asked, where the run has one. */
  deviceAskMs: z.int().min(100).max(LIMITS.timeoutMsMax).optional(),
  /** How long no connected device can take a ready task until it fails as DEVICE_UNAVAILABLE. */
  deviceWaitMs: z
    .int()
    .min(100)
    .max(LIMITS.timeoutMsMax * 7)
    .optional(),
  /** What the whole run may use up; when it is gone, what is pending is cancelled and the run fails. */
  budget: Budget.optional(),
  /** In how many edit rounds of this run, the first plan included, a model may be asked; runbooks and rules are not counted. */
  rounds: z.int().min(0).max(LIMITS.roundsMax).optional(),
  approval: ApprovalMode.optional(),
  /** Which exact commands the policy judges before they run; `models` when absent. */
  judge: JudgedCommands.optional(),
  /** `approve`: a plan that was made for a goal waits for a person's RESUME before anything starts. */
  plan: z.enum(['start', 'approve']).optional(),
  /** How many persons have to approve a command that is asked about, or a plan, before it runs; 1 when absent. */
  approvals: z.int().min(1).max(LIMITS.approvalsMax).optional(),
  /** Who answers edit rounds: the planner of the system, or a program with PROPOSE, whom the planner leaves alone. */
  planner: z.enum(['service', 'external']).optional(),
  /** Every command of the run begins in a directory of the run on its device; so it is anyway in a run with files. */
  workspace: z.boolean().optional(),
  /** What lies there stays on the devices when the run has ended. */
  keepWorkspace: z.boolean().optional(),
  /** The evaluation agent judges the run when it has ended. */
  evaluate: z.boolean().optional(),
});
export type RunOptions = z.infer<typeof RunOptions>;

/** What external systems publish. Exactly one of `goal` and `constellation`; unknown fields are refused. */
export const RunRequest = z
  .strictObject({
    requestId: RequestId,
    goal: z.string().min(1).max(20_000).nullable().default(null),
    constellation: TaskConstellation.nullable().default(null),
    options: RunOptions.default({}),
    metadata: z.record(z.string().max(64), Json).default({}),
    /** Of the content: the same request id with others is a conflict. */
    labels: RunLabels.optional(),
  })
  .refine((request) => (request.goal === null) !== (request.constellation === null), {
    error: 'exactly one of goal and constellation must be given',
  });
export type RunRequest = z.infer<typeof RunRequest>;

/** A request on `orrery.submit`: who asks has signed it. */
export const SignedRequest = RunRequest.safeExtend({ actor: ActorProof });
export type SignedRequest = z.infer<typeof SignedRequest>;

/** A request on `orrery.requests.<actorId>`: the subject says who asks, and may be shown to be right by a signature. */
export const PublishedRequest = RunRequest.safeExtend({ actor: ActorProof.optional() });
export type PublishedRequest = z.infer<typeof PublishedRequest>;

/** One thing that is wrong with an input, with the path of the offending field and what would be valid. */
export const Issue = z.strictObject({ path: z.string(), message: z.string() });
export type Issue = z.infer<typeof Issue>;

export const RefusalCode = z.enum([
  'INVALID_JSON',
  'INVALID_REQUEST',
  'TOO_LARGE',
  'IDEMPOTENCY_CONFLICT',
  'NO_PLANNER',
  'TRY_AGAIN',
  /** Nothing can be stored now; the sentence says why. It goes on by itself when there is room. */
  'STORAGE_FULL',
  'UNAUTHORIZED',
  /** Who asks has had as much as he may take; the sentence says of what, and when to ask again. */
  'LIMIT_REACHED',
  'NOT_FOUND',
  /** The state of the run or the task does not allow it. */
  'INVALID_STATE',
  /** Another value stands there than the one that was seen; the answer has it. */
  'CONFLICT',
  /** An edit breaks a rule; the issues say which and what would be valid. */
  'EDIT_REJECTED',
  /** There was nothing to do. */
  'IGNORED',
  /** A join token that a client with another key has used; that came too late; that was never made, or was replaced. */
  'TOKEN_USED',
  'TOKEN_EXPIRED',
  'TOKEN_UNKNOWN',
  /** The clock of the sender is too far off. */
  'CLOCK_SKEW',
]);
export type RefusalCode = z.infer<typeof RefusalCode>;

export const Refusal = z.strictObject({ code: RefusalCode, message: z.string(), issues: z.array(Issue).default([]) });
export type Refusal = z.infer<typeof Refusal>;

/** Answer of `orrery.submit`, of `orrery.answer.<requestId>` and of `POST /v1/requests`. */
export const SubmitAnswer = z.union([
  z.strictObject({ runId: RunId, requestId: RequestId }),
  z.strictObject({ requestId: RequestId.optional(), error: Refusal }),
]);
export type SubmitAnswer = z.infer<typeof SubmitAnswer>;

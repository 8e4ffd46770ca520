import { z } from 'zod';
import { Actor } from './actors.js';
import { CommandCall } from './constellation.js';
import { CommandId, DeviceId, idSchema, Instant, RunId, Sha256, TaskId } from './ids.js';
import { LIMITS } from './limits.js';
import { CommandClass } from './policy.js';
import { ArtifactRef } from './result.js';
import { AskedWall, CommandWall } from './walls.js';

/** The id of what is asked: the id that the command has, or would have. It names run, task, attempt and step. */
export const ApprovalId = CommandId;
export type ApprovalId = z.infer<typeof ApprovalId>;

/** `approval`: may this command run? `question`: the agent needs to know something. */
export const AskKind = z.enum(['approval', 'question']);
export type AskKind = z.infer<typeof AskKind>;

const askShape = {
  approvalId: ApprovalId,
  deviceId: DeviceId,
  /** The agent that asks, and its step. */
  agent: z.string().max(64),
  step: z.int().min(0),
  /** What the agent was thinking and what it means to do next: hostile text like everything a model says. */
  thought: z.string().max(4_000),
  plan: z.array(z.string().max(500)).max(20),
  expiresAt: Instant,
} as const;

/** What a person is asked by an attempt. */
export const Ask = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('approval'),
    ...askShape,
    /** Exactly what would run. */
    command: CommandCall,
    class: CommandClass,
    rule: z.string().min(1).max(128),
    reasons: z.array(z.string().max(500)).max(20),
    policyHash: Sha256,
    grantable: z.boolean(),
    /** What it would be given, if it is approved as it is; absent where it was asked before anybody could say so. */
    wall: AskedWall.optional(),
    /** What its agent has seen of the place where it would act: the control in its window, marked. A PNG. */
    picture: ArtifactRef.optional(),
  }),
  z.strictObject({ kind: z.literal('question'), ...askShape, question: z.string().min(1).max(4_000) }),
]);
export type Ask = z.infer<typeof Ask>;

export const ContentApprovalId = idSchema('the id of a standing approval');
export type ContentApprovalId = z.infer<typeof ContentApprovalId>;

/** What somebody approved who approved the content of plans: `ids` of his words and those of the others, one of each person, in the order in which they are named. */
export const StandingUse = z.strictObject({
  contentHash: Sha256,
  ids: z.array(ContentApprovalId).min(1).max(LIMITS.approvalsMax),
});
export type StandingUse = z.infer<typeof StandingUse>;

/** `expired`: nobody spoke in time, which is a no. `revoked`: a grant that this approval gave counts no more. */
export const ApprovalDecision = z.enum(['approved', 'edited', 'rejected', 'answered', 'expired', 'revoked']);
export type ApprovalDecision = z.infer<typeof ApprovalDecision>;

/** What a person decided. `command`: what may run instead (`edited`). `wall`: what it is given, where that is not what was shown. `answer`: of a question. */
export const Decided = z.strictObject({
  approvalId: ApprovalId,
  decision: ApprovalDecision,
  by: Actor,
  command: CommandCall.optional(),
  wall: CommandWall.optional(),
  answer: z.string().max(20_000).optional(),
  note: z.string().max(1_000).optional(),
});
export type Decided = z.infer<typeof Decided>;

/** A person approves what takes more than this one word. Only the last one of a person counts. */
export const ApprovalGiven = z.strictObject({
  taskId: TaskId,
  attempt: z.int().min(1),
  approvalId: ApprovalId,
  by: Actor,
  /** What may run instead: the first who says it is its author, and does not approve it by that. */
  command: CommandCall.optional(),
  /** What it is given, as far as this person is concerned, where that is not what was shown. */
  wall: CommandWall.optional(),
  /** For how long the same may run unasked, as far as this person is concerned. */
  grantMs: z.int().min(1).optional(),
  note: z.string().max(1_000).optional(),
  givenAt: Instant,
});

/** What one person has said to what takes more than one, as it is shown. */
export const GivenView = z.strictObject({
  by: Actor,
  givenAt: Instant,
  /** What may run instead; null: what was asked about. */
  command: CommandCall.nullable(),
  /** What it is given; absent: what was shown. */
  wall: CommandWall.optional(),
  /** Nobody approves what he wrote himself, or has a part in. */
  counts: z.boolean(),
});
export type GivenView = z.infer<typeof GivenView>;

/** One approval or question of a run, open or decided, as it is shown. */
export const ApprovalView = z.strictObject({
  approvalId: ApprovalId,
  runId: RunId,
  taskId: TaskId,
  attempt: z.int().min(1),
  ask: Ask,
  requestedAt: Instant,
  /** `withdrawn`: its attempt ended before anybody spoke. */
  state: z.enum(['open', 'withdrawn', ...ApprovalDecision.options]),
  by: Actor.nullable(),
  note: z.string().nullable(),
  decidedAt: Instant.nullable(),
  /** The same command runs on the same device in this run without being asked again until then. */
  grantUntil: Instant.nullable(),
  /** What it is given, where that is not what was shown. */
  wall: CommandWall.optional(),
  /** How many persons have to approve it; 1 when absent. */
  needed: z.int().min(1).optional(),
  /** How many may, where they were fewer than that when it was asked. */
  approvers: z.int().min(0).optional(),
  /** Who has approved it so far; absent where nobody has, and one is enough. */
  given: z.array(GivenView).optional(),
  /** Whose words it took, where it took more than one. */
  approvedBy: z.array(Actor).optional(),
  /** Whoever approved it had a part in it: there was one approver only. */
  selfApproved: z.literal(true).optional(),
});
export type ApprovalView = z.infer<typeof ApprovalView>;

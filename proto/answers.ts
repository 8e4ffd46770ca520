import { z } from 'zod';
import { Actor, ActorId } from './actors.js';
import { ActorEntry, ContentApproval, NamedToken } from './actor-events.js';
import { ApprovalView } from './approvals.js';
import { TaskConstellation } from './constellation.js';
import { DeviceWorkspace } from './files.js';
import { Instant, Sha256 } from './ids.js';
import { LIMITS } from './limits.js';
import { PolicyVerdict } from './policy.js';
import { Issue } from './request.js';
import { Experience, RunbookInfo } from './runbooks.js';
import { AskedWall } from './walls.js';

// Answers of QUERIES that pages of the console read, each under a name of its own: a page is given no schema of the others.

export const ApprovalsAnswer = z.strictObject({ approvals: z.array(ApprovalView) });

export const ExplainedAnswer = z.strictObject({
  verdict: PolicyVerdict,
  policyHash: Sha256,
  /** What it would be given there; absent where nobody knows of a wall, and for what is no command line. */
  wall: AskedWall.optional(),
});

export const WorkspacesAnswer = z.strictObject({
  workspaces: z.array(DeviceWorkspace).max(LIMITS.workspacesListedMax),
  more: z.int().min(0),
});

export const PeopleAnswer = z.strictObject({
  people: z.array(ActorEntry.omit({ tokens: true }).extend({ addedAt: Instant })),
});

export const TokensAnswer = z.strictObject({
  tokens: z.array(
    NamedToken.omit({ tokenHash: true }).extend({
      actorId: ActorId,
      issuedAt: Instant,
      revokedAt: Instant.nullable(),
      /** To within LIMITS.tokenUseMs; null when it never was. */
      lastUsedAt: Instant.nullable(),
    }),
  ),
});

export const ContentApprovalsAnswer = z.strictObject({
  approvals: z.array(
    ContentApproval.extend({
      by: Actor,
      at: Instant,
      /** `ended`: who gave it may approve no more, or was revoked. */
      state: z.enum(['counts', 'expired', 'revoked', 'ended']),
    }),
  ),
});

export const RunbooksAnswer = z.strictObject({
  runbooks: z.array(RunbookInfo),
  /** Files that could not be used, and why. */
  problems: z.array(z.string()),
});

export const RunbookAnswer = z.strictObject({
  runbook: RunbookInfo,
  constellation: TaskConstellation.nullable(),
  issues: z.array(Issue),
});

export const ExperiencesAnswer = z.strictObject({ enabled: z.boolean(), experiences: z.array(Experience) });

import {
  type Actor,
  type Ask,
  type ContentApprovalId,
  type Instant,
  isSameWall,
  isWallWithin,
  UNHELD,
  type RunEventData,
  type Sha256,
  type TaskId,
} from '#proto';
import { planContent, type PlanContent, takesOutputs } from '../plan/index.js';
import { sameJson } from '../values/index.js';
import { type Grant, grantKey } from './approval-state.js';
import { authorOf } from './authors.js';
import { findTask, hasPlan, type Run } from './run.js';
import { type Approvers, countsIn, isSole, neededOf } from './tally.js';
import { plannedOf } from './task.js';

/** A person's word for the content of a plan that counts now. */
export interface StandingApproval {
  readonly approvalId: ContentApprovalId;
  readonly contentHash: Sha256;
  readonly by: Actor;
}

/** The standing approvals of this content that count now, oldest first; of who may approve and who has a part in a run it knows nothing. */
export type StandingApprovals = (content: PlanContent) => readonly StandingApproval[];

/** Whose words let something run that they were given for before it was asked. */
export type StandingWords = Pick<RunEventData<'APPROVAL_DECIDED'>, 'by' | 'approvedBy' | 'selfApproved' | 'standing'>;

/**
 * The plan of a run that nobody has changed since it began; undefined of one that was changed, and of a fork: what has run there was
 * decided elsewhere.
 */
export function contentOfRun(run: Run): PlanContent | undefined {
  if (!hasPlan(run) || run.revision !== FIRST || run.parent !== null) return undefined;
  return planContent({ tasks: plannedOf(run.tasks), lines: [...run.graph.lines] });
}
const FIRST = 1;

type Command = Extract<Ask, { kind: 'approval' }>;

/** Whether this very command stands in the plan, so that who approved the plan has seen it and what it is given. */
export function isInPlan(run: Run, taskId: TaskId, ask: Command): boolean {
  const star = findTask(run, taskId)?.star;
  // What an agent comes up with is nobody's word yet.
  if (star?.command === undefined) return false;
  const isSame = [star.command, star.verify?.command].some((one) => one !== undefined && sameJson(one, ask.command));
  return isSame && !runsUnseen(ask);
}

/** It may run what another task writes, which nobody has seen. */
function runsUnseen(ask: Command): boolean {
  return ask.class === 'privileged' && takesOutputs(ask.command.arguments['stdin']);
}

interface Asked {
  readonly taskId: TaskId;
  readonly ask: Command;
  readonly at: Instant;
}

interface Known {
  readonly approvers?: Approvers;
  readonly standing?: StandingApprovals | undefined;
}

type Words = StandingWords & Pick<RunEventData<'APPROVAL_DECIDED'>, 'grantOf' | 'wall'>;

/**
 * By whose words a command runs that was approved before it was asked about: for a while in this run, or with the whole plan. Who wants
 * to be asked about every command of a run is asked.
 */
export function wordsBefore(run: Run, { taskId, ask, at }: Asked, known: Known): Words | undefined {
  const granted = grantedWords(run, { taskId, ask, at }, known);
  if (granted !== undefined) return granted;
  if (run.request?.options.approval === 'always' || !isInPlan(run, taskId, ask)) return undefined;
  return standingWords(run, known);
}

/**
 * A grant counts as long as everybody's word for it does: whoever changes the plan, or may approve no more, has taken his back. What would
 * be given more than the grant gives is asked about.
 */
function grantedWords(run: Run, { taskId, ask, at }: Asked, { approvers }: Known): Words | undefined {
  const deviceId = findTask(run, taskId)?.deviceId ?? null;
  if (!ask.grantable || deviceId === null) return undefined;
  const grant = run.approvals.grants.get(grantKey(deviceId, ask.command));
  if (grant === undefined || at >= grant.until) return undefined;
  const { by, approvedBy, selfApproved, approvalId: grantOf, wall } = grant;
  const shown = ask.wall ?? UNHELD;
  if (wall !== undefined && !isWallWithin(shown, wall)) return undefined;
  if (!giversOf(grant).every((giver) => countsIn(run, giver, approvers))) return undefined;
  return {
    by,
    ...(approvedBy !== null && { approvedBy: [...approvedBy] }),
    ...(selfApproved && { selfApproved }),
    grantOf,
    ...(wall !== undefined && !isSameWall(wall, shown) && { wall }),
  };
}

const giversOf = ({ by, approvedBy }: Grant): readonly Actor[] => approvedBy ?? [by];

/** As many words as the run takes, of different persons who may approve in it as things are; undefined when there are fewer. */
export function standingWords(run: Run, { approvers, standing }: Known): StandingWords | undefined {
  const content = standing === undefined || approvers === undefined ? undefined : contentOfRun(run);
  if (content === undefined || standing === undefined) return undefined;
  const counting = standing(content).filter(({ by }) => countsIn(run, by, approvers));
  const needed = neededOf(run);
  const words = [...new Map(counting.map((one) => [one.by.id, one])).values()].slice(0, needed);
  const last = words.at(-1);
  if (last === undefined || words.length < needed) return undefined;
  const isOwn = words.some(({ by }) => isSole(by, approvers) && authorOf(run, by) !== undefined);
  return {
    by: last.by,
    ...(words.length > 1 && { approvedBy: words.map(({ by }) => by) }),
    ...(isOwn && { selfApproved: true as const }),
    standing: { contentHash: last.contentHash, ids: words.map(({ approvalId }) => approvalId) },
  };
}

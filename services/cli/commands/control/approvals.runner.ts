import type { NatsConnection } from '@nats-io/transport-node';
import type { ApprovalView } from '#proto';
import { query } from '#libs/messaging';
import { approvalFrom } from './approval-id.js';
import { approvalsTable, approvalText } from '../../text/index.js';
import { withBus } from '../../bus/index.js';
import { shownAgain } from '../../live/index.js';
import { badInput, EXIT, type ExitCode, printJson, type CliContext, tell } from '../../terminal/index.js';
import { loadRunRecords, commitsOf, stateAt } from '../../sources/index.js';

export interface ApprovalsWords {
  readonly all?: boolean;
  readonly limit: number;
  readonly watch?: boolean;
}

/** What waits for a person, over all runs, newest first. */
export function listApprovals(context: CliContext, { watch = false, ...words }: ApprovalsWords): Promise<ExitCode> {
  return shownAgain(context, watch, (shown) => showApprovals(shown, words));
}

async function showApprovals(context: CliContext, { all = false, limit }: ApprovalsWords): Promise<ExitCode> {
  const state = all ? 'all' : 'open';
  const { approvals } = await withBus(context, (nc) => query(nc, 'logging', 'approvals', { state, limit }));
  const { terminal, json } = context;
  if (json) printJson(context, { approvals });
  else if (approvals.length > 0) terminal.out(approvalsTable(approvals, terminal));
  else terminal.err(all ? 'Nothing was ever asked.' : 'Nothing waits for a person.');
  return EXIT.ok;
}

export async function showApproval(context: CliContext, id: string): Promise<ExitCode> {
  const approval = await withBus(context, (nc) => findApproval(nc, id));
  return tell(context, approval, approvalText(approval, context.terminal));
}

/** Out of the log of its run: a person decides about what is recorded, not about what some projection says. */
export async function findApproval(nc: NatsConnection, id: string): Promise<ApprovalView> {
  const { approvalId, runId } = approvalFrom(id);
  const { approvals } = stateAt(runId, commitsOf(runId, await loadRunRecords(nc, runId)));
  const found = approvals.find((approval) => approval.approvalId === approvalId);
  if (found !== undefined) return found;
  throw badInput(`Run ${runId} has no approval ${approvalId}; see: orrery approvals --all`);
}

import { findTask, grantKey, type Run } from '#libs/constellation';
import { attemptOfCommand, type RecordedRunEvent } from '#proto';

export type ApprovalEvent = Extract<RecordedRunEvent, { type: `APPROVAL_${string}` }>;
type DecidedData = Extract<ApprovalEvent, { type: 'APPROVAL_DECIDED' }>['data'];

/** Whether something may be asked, or decided, in the state it meets; undefined when all is well. */
export function illegalForApprovals(run: Run, event: ApprovalEvent): string | undefined {
  const { taskId, attempt } = event.data;
  const problem =
    event.type === 'APPROVAL_REQUESTED' ? illegalRequest(run, event.data) : illegalDecision(run, event.data);
  return problem === undefined ? undefined : `${event.type} of ${taskId}, attempt ${attempt}: ${problem}`;
}

function illegalRequest(
  run: Run,
  { taskId, attempt, ask }: Extract<ApprovalEvent, { type: 'APPROVAL_REQUESTED' }>['data'],
): string | undefined {
  const task = findTask(run, taskId);
  if (task === undefined) return 'there is no such task';
  if (task.status !== 'RUNNING' || task.attempt !== attempt) return 'the attempt is not running';
  if (task.deviceId !== ask.deviceId)
    return `the attempt runs on ${task.deviceId ?? 'no device'}, not on ${ask.deviceId}`;
  const of = attemptOfCommand(ask.approvalId);
  if (of?.runId !== run.runId || of.taskId !== taskId || of.attempt !== attempt) {
    return `${ask.approvalId} is no id of this attempt`;
  }
  return run.approvals.open.has(ask.approvalId) ? `${ask.approvalId} is open already` : undefined;
}

function illegalDecision(run: Run, data: DecidedData): string | undefined {
  const { approvalId, decision } = data;
  if (decision === 'revoked') {
    const isGiven = [...run.approvals.grants.values()].some((grant) => grant.approvalId === approvalId);
    return isGiven ? notAPerson(data) : `${approvalId} gives no grant that could be revoked`;
  }
  const open = run.approvals.open.get(approvalId);
  if (open === undefined) return `${approvalId} is not open`;
  if (open.taskId !== data.taskId || open.attempt !== data.attempt) return `${approvalId} belongs to another attempt`;
  const { ask } = open;
  if (decision === 'expired') {
    return data.decidedAt < ask.expiresAt ? `it expires at ${ask.expiresAt}, not before` : undefined;
  }
  if (data.grantOf !== undefined) return illegalGrant(run, data, open.ask);
  if (decision === 'rejected') return notAPerson(data);
  if ((decision === 'answered') !== (ask.kind === 'question')) return `a ${ask.kind} cannot be ${decision}`;
  if ((decision === 'edited') !== (data.command !== undefined))
    return 'a command is edited if and only if there is another one';
  if (data.grant !== undefined && (ask.kind !== 'approval' || !ask.grantable))
    return 'it may not be granted for a while';
  return notAPerson(data) ?? ownWord(run, data);
}

function illegalGrant(run: Run, { grantOf, decidedAt, by }: DecidedData, ask: OpenAsk): string | undefined {
  const grant = ask.kind === 'approval' ? run.approvals.grants.get(grantKey(ask.deviceId, ask.command)) : undefined;
  if (grant?.approvalId !== grantOf || grant?.by.id !== by.id) return `${grantOf} grants nothing of the kind`;
  return decidedAt < grant.until ? undefined : `the grant of ${grantOf} was over by then`;
}

type OpenAsk =
  Run['approvals']['open'] extends ReadonlyMap<string, infer Open extends { ask: unknown }> ? Open['ask'] : never;

function notAPerson({ by, decision }: DecidedData): string | undefined {
  return by.kind === 'person' ? undefined : `${decision} by ${by.id}, who is no person`;
}

/** What somebody asked for is not for the same somebody to allow. */
function ownWord(run: Run, { by, decision }: DecidedData): string | undefined {
  const requester = run.request?.requestedBy;
  const isOwn = requester?.kind === by.kind && requester.id === by.id;
  return isOwn && decision !== 'answered' ? `${by.id} requested the run and may not approve in it` : undefined;
}

import type { RunEvent, TaskId } from '#proto';
import type { Draft, Occasion, Report } from './occasion.js';

type ApprovalWord = Extract<RunEvent, { type: `APPROVAL_${string}` }>;

/** What is asked belongs to an attempt that runs; it is decided once, by a person, or by nobody when its time is over. */
export function recordApproval(draft: Draft, event: ApprovalWord, { now }: Occasion, report: Report): void {
  const { taskId, attempt } = event.data;
  const entry = draft.tasks.get(taskId);
  const asks = new Map(draft.asks);
  draft.asks = asks;
  if (entry?.status !== 'RUNNING' || entry.attempt !== attempt) {
    report('I6_APPROVAL', `${event.type} of attempt ${attempt} of ${taskId}, which does not run`);
  }
  if (event.type === 'APPROVAL_REQUESTED') {
    const { approvalId, expiresAt } = event.data.ask;
    if (asks.has(approvalId)) report('DUPLICATE', `${approvalId} was asked twice`);
    if (entry?.stopping !== null) report('I6_APPROVAL', `${approvalId} is asked for a task that is being stopped`);
    asks.set(approvalId, { taskId, attempt, expiresAt: Date.parse(expiresAt), state: 'open' });
    return;
  }
  if (event.type === 'APPROVAL_GIVEN') {
    const { approvalId, by } = event.data;
    if (asks.get(approvalId)?.state !== 'open') report('I6_APPROVAL', `${approvalId} is given and not open`);
    if (by.kind !== 'person') report('I6_APPROVAL', `${approvalId} was given by nobody`);
    return;
  }
  const { approvalId, decision, by } = event.data;
  const ask = asks.get(approvalId);
  if (ask?.state !== 'open') {
    report('I6_APPROVAL', `${approvalId} was ${decision} and is ${ask?.state ?? 'not asked'}`);
    return;
  }
  const isOver = now >= ask.expiresAt;
  if ((decision === 'expired') !== isOver) {
    report('I6_APPROVAL', `${approvalId} was ${decision} ${isOver ? 'after' : 'before'} its time was over`);
  }
  if (decision !== 'expired' && by.kind !== 'person') report('I6_APPROVAL', `${approvalId} was ${decision} by nobody`);
  if (decision === 'approved' && entry?.stopping !== null) {
    report('I6_APPROVAL', `${approvalId} was approved for a task that is being stopped`);
  }
  asks.set(approvalId, { ...ask, state: decision });
}

/** Nobody waits for an answer any more. */
export function withdrawAsks(draft: Draft, taskId: TaskId): void {
  const left = [...draft.asks].map(([id, ask]) => {
    const isOver = ask.taskId === taskId && ask.state === 'open';
    return [id, isOver ? { ...ask, state: 'withdrawn' as const } : ask] as const;
  });
  draft.asks = new Map(left);
}

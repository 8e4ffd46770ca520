import {
  instantOf,
  type Actor,
  type ApprovalId,
  type Ask,
  attemptOfCommand,
  type CommandCall,
  type RunEventData,
  type TaskId,
} from '#proto';
import { ACCEPTED, type Answer, refuse, sameJson } from '../values/index.js';
import {
  type DecidedApproval,
  grantKey,
  type OpenApproval,
  isCurrentAttempt,
  findTask,
  isTerminal,
  type Run,
} from '../state/index.js';
import type { Circumstances } from '../schedule/index.js';
import type { RunDraft } from '../fold/index.js';
import { listOfIds } from '../plan/index.js';

/** An attempt waits for a person, as ATTEMPTS has it. */
export interface Asked {
  readonly taskId: TaskId;
  readonly attempt: number;
  readonly ask: Ask;
  readonly attemptHash: string;
}

/** What a person says to what an attempt asked. */
export type PersonsWord =
  | {
      readonly verb: 'APPROVE';
      readonly approvalId: ApprovalId;
      readonly command?: CommandCall | undefined;
      readonly grantMs?: number | undefined;
      readonly note?: string | undefined;
    }
  | { readonly verb: 'REJECT'; readonly approvalId: ApprovalId; readonly note?: string | undefined }
  | { readonly verb: 'ANSWER'; readonly approvalId: ApprovalId; readonly text: string };

const ORCHESTRATOR: Actor = { kind: 'system', id: 'orchestrator' };

/** Recorded once, and only while the attempt runs; what a living grant covers is decided in the same commit. */
export function recordAsk(draft: RunDraft, asked: Asked, { now }: Circumstances): Answer {
  const { taskId, attempt, ask, attemptHash } = asked;
  const { run } = draft;
  const task = findTask(run, taskId);
  if (task === undefined) return { kind: 'ignored', reason: 'UNKNOWN_TASK' };
  if (!isCurrentAttempt(task, attempt)) return { kind: 'ignored', reason: 'STALE_ATTEMPT' };
  if (task.asks.includes(ask.approvalId)) return { kind: 'ignored', reason: 'ASKED_BEFORE' };
  if (task.stopping !== null) return { kind: 'ignored', reason: 'STOPPING' };
  const at = instantOf(now);
  draft.add({ type: 'APPROVAL_REQUESTED', data: { taskId, attempt, ask, requestedAt: at, attemptHash } });
  // What comes here after its time is a no by now, whatever was granted.
  if (ask.kind !== 'approval' || !ask.grantable || task.deviceId === null || at >= ask.expiresAt) return ACCEPTED;
  const grant = run.approvals.grants.get(grantKey(task.deviceId, ask.command));
  if (grant === undefined || at >= grant.until) return ACCEPTED;
  const { approvalId: grantOf, by } = grant;
  const { approvalId } = ask;
  draft.add({
    type: 'APPROVAL_DECIDED',
    data: { taskId, attempt, approvalId, decision: 'approved', by, grantOf, decidedAt: at },
  });
  return ACCEPTED;
}

/** Nobody spoke in time, which is a no. */
export function enforceApprovals(draft: RunDraft, { now }: Circumstances): void {
  if (draft.run.approvals.open.size === 0) return;
  const at = instantOf(now);
  for (const [approvalId, { taskId, attempt, ask }] of draft.run.approvals.open) {
    if (at < ask.expiresAt) continue;
    const decided = { approvalId, decision: 'expired', by: ORCHESTRATOR, decidedAt: at } as const;
    draft.add({ type: 'APPROVAL_DECIDED', data: { taskId, attempt, ...decided } });
  }
}

/** A person's word counts once. Only persons have one, and nobody lets run what he requested himself. */
export function decideApproval(draft: RunDraft, word: PersonsWord, by: Actor, { now }: Circumstances): Answer {
  const { run } = draft;
  if (by.kind !== 'person') {
    const message = `only a person may decide what an agent asks, and ${by.id} is of kind ${by.kind}`;
    return refuse('UNAUTHORIZED', message);
  }
  const { approvalId } = word;
  const at = instantOf(now);
  const request = run.approvals.open.get(approvalId);
  if (request === undefined) return decidedBefore(draft, word, by, at);
  if (at >= request.ask.expiresAt) {
    const detail = `nobody had spoken by ${request.ask.expiresAt}, which is a no`;
    return { kind: 'ignored', reason: 'ALREADY_DECIDED', detail };
  }
  const problem = whyNot(run, word, by, request);
  if (problem !== undefined) return problem;
  draft.add({ type: 'APPROVAL_DECIDED', data: said(word, by, request, now) });
  return ACCEPTED;
}

function whyNot(run: Run, word: PersonsWord, by: Actor, { taskId, ask }: OpenApproval): Answer | undefined {
  if (word.verb === 'REJECT') return undefined;
  if (word.verb === 'ANSWER') {
    if (ask.kind === 'question') return undefined;
    return refuse('INVALID_STATE', 'approvalId: it is a command that waits for approval; APPROVE or REJECT it');
  }
  if (ask.kind === 'question') {
    return refuse('INVALID_STATE', 'approvalId: it is a question; ANSWER it, or REJECT it to give no answer');
  }
  const requester = run.request?.requestedBy;
  if (requester?.kind === by.kind && requester.id === by.id) {
    return refuse('UNAUTHORIZED', `${by.id} requested this run; another person has to approve its commands`);
  }
  const task = run.tasks.at(run.graph.taskIndex.get(taskId) ?? -1);
  if (task.stopping !== null) {
    return refuse('INVALID_STATE', `approvalId: task "${taskId}" is being stopped; nothing new runs for it`);
  }
  if (word.grantMs === undefined) return undefined;
  if (!ask.grantable) {
    const message = `grantMs: a command that the rule ${ask.rule} asks about is approved once only; leave grantMs out`;
    return refuse('INVALID_STATE', message);
  }
  if (word.command !== undefined && !sameJson(word.command, ask.command)) {
    return refuse('INVALID_REQUEST', 'grantMs: a changed command is judged anew and approved once; leave grantMs out');
  }
  return undefined;
}

function said(
  word: PersonsWord,
  by: Actor,
  { taskId, attempt, ask }: OpenApproval,
  now: number,
): RunEventData<'APPROVAL_DECIDED'> {
  const { approvalId } = word;
  const head = { taskId, attempt, approvalId, by, decidedAt: instantOf(now) };
  switch (word.verb) {
    case 'APPROVE': {
      const { command, grantMs, note } = word;
      const isEdited = command !== undefined && ask.kind === 'approval' && !sameJson(command, ask.command);
      return {
        ...head,
        decision: isEdited ? 'edited' : 'approved',
        ...(isEdited ? { command } : {}),
        ...(note === undefined ? {} : { note }),
        ...(grantMs === undefined ? {} : { grant: { until: instantOf(now + grantMs) } }),
      };
    }
    case 'REJECT':
      return { ...head, decision: 'rejected', ...(word.note === undefined ? {} : { note: word.note }) };
    case 'ANSWER':
      return { ...head, decision: 'answered', answer: word.text };
  }
}

/** A no to what gave a grant takes the grant back; everything else that was decided stays as it is. */
function decidedBefore(draft: RunDraft, word: PersonsWord, by: Actor, at: string): Answer {
  const { run } = draft;
  const { approvalId } = word;
  const grant = [...run.approvals.grants.values()].find((one) => one.approvalId === approvalId && at < one.until);
  const decided = run.approvals.decided.findLast(({ ask }) => ask.approvalId === approvalId);
  const whose = decided ?? attemptOfCommand(approvalId);
  if (word.verb === 'REJECT' && grant !== undefined && whose !== undefined && !isTerminal(run)) {
    const { taskId, attempt } = whose;
    const note = word.note === undefined ? {} : { note: word.note };
    draft.add({
      type: 'APPROVAL_DECIDED',
      data: { taskId, attempt, approvalId, decision: 'revoked', by, ...note, decidedAt: at },
    });
    return ACCEPTED;
  }
  if (decided !== undefined) return answerTo(decided);
  if (wasAsked(run, approvalId)) return { kind: 'ignored', reason: 'ALREADY_DECIDED' };
  const open = listOfIds([...run.approvals.open.keys()]);
  return refuse('NOT_FOUND', `approvalId: there is no approval "${approvalId}" in this run; open are ${open}`);
}

function answerTo({ state, by, decidedAt, taskId }: DecidedApproval): Answer {
  if (state === 'withdrawn') {
    return refuse(
      'INVALID_STATE',
      `approvalId: the attempt of task "${taskId}" that asked has ended; nothing waits for it`,
    );
  }
  if (state === 'expired') {
    return { kind: 'ignored', reason: 'ALREADY_DECIDED', detail: `nobody had spoken by ${decidedAt}, which is a no` };
  }
  const who = by === null ? '' : ` by ${by.id}`;
  return { kind: 'ignored', reason: 'ALREADY_DECIDED', detail: `it was ${state}${who} at ${decidedAt ?? 'some time'}` };
}

/** Decided so long ago that only the attempt still knows of it. */
function wasAsked(run: Run, approvalId: ApprovalId): boolean {
  return findTask(run, attemptOfCommand(approvalId)?.taskId ?? '')?.asks.includes(approvalId) === true;
}

import type { Actor, ApprovalId, RecordedRunEvent, TaskId, Usage } from '#proto';
import type { Run } from '#libs/constellation';
import type { Fail } from './failure.js';

type Decided = Extract<RecordedRunEvent, { type: 'APPROVAL_DECIDED' }>['data'];

interface Asked {
  readonly taskId: TaskId;
  readonly attempt: number;
  readonly expiresAt: string;
  state: string;
}

interface Runs {
  readonly status: string;
  readonly attempt: number;
  readonly stopping: boolean;
}

/** What persons are asked and what they said, and what is used of the budget: by the log alone. */
export class ApprovalAudit {
  readonly #fail: Fail;
  readonly #asked = new Map<ApprovalId, Asked>();
  readonly #shares = new Map<TaskId, number>();
  #calls = 0;
  /** Calls that the planner may still make in the open round. */
  #round = 0;
  #callsMax = Infinity;
  /** How many persons a command takes, who asked for the run, and who has said what for each. */
  #needed = 1;
  #requester: Actor | undefined;
  readonly #words = new Map<ApprovalId, Map<string, string>>();

  constructor(fail: Fail) {
    this.#fail = fail;
  }

  stateOf(approvalId: ApprovalId): string | undefined {
    return this.#asked.get(approvalId)?.state;
  }

  /** Open ones that have been due since before an instant. */
  *overdue(before: string): Generator<ApprovalId> {
    for (const [id, { state, expiresAt }] of this.#asked) if (state === 'open' && expiresAt < before) yield id;
  }

  /** `task`: as it was before the event. */
  take(event: RecordedRunEvent, task: Runs | undefined): void {
    switch (event.type) {
      case 'RUN_REQUESTED':
      case 'RUN_FORKED':
        this.#callsMax = event.data.options.budget?.llmCalls ?? Infinity;
        this.#needed = event.data.options.approvals ?? 1;
        this.#requester = event.data.requestedBy;
        return;
      case 'APPROVAL_GIVEN': {
        const { approvalId, by, command } = event.data;
        if (this.stateOf(approvalId) !== 'open') this.#fail('I6_APPROVAL', `${approvalId} is given and not open`);
        this.#said(approvalId, by, command);
        return;
      }
      case 'APPROVAL_REQUESTED': {
        const { taskId, attempt, ask } = event.data;
        if (this.#asked.has(ask.approvalId)) this.#fail('I6_APPROVAL', `${ask.approvalId} is asked again`);
        if (task?.status !== 'RUNNING' || task.attempt !== attempt || task.stopping)
          this.#fail('I6_APPROVAL', `${ask.approvalId} is asked, and attempt ${attempt} does not go on`);
        this.#asked.set(ask.approvalId, { taskId, attempt, expiresAt: ask.expiresAt, state: 'open' });
        return;
      }
      case 'APPROVAL_DECIDED':
        this.#enough(event.data);
        return this.#decided(event.data);
      case 'EDIT_OPENED':
        this.#round = event.data.budget?.llmCalls ?? 0;
        return this.#given(this.#round);
      case 'EDIT_REJECTED': {
        const { llmCalls = 0 } = event.data.used ?? {};
        this.#calls += llmCalls;
        this.#round = Math.max(0, this.#round - llmCalls);
        return;
      }
      case 'EDIT_ABANDONED':
      case 'CONSTELLATION_MODIFIED':
        if (event.data.editId === undefined) return;
        this.#calls += event.data.used?.llmCalls ?? 0;
        this.#round = 0;
        return;
      case 'TASK_STARTED': {
        const share = event.data.budget?.llmCalls ?? 0;
        this.#shares.set(event.data.taskId, share);
        return this.#given(share);
      }
      case 'TASK_COMPLETED':
      case 'TASK_FAILED':
      case 'TASK_CANCELLED':
        return this.#ended(event.data);
      default:
    }
  }

  #given(share: number): void {
    const given = [...this.#shares.values()].reduce((sum, one) => sum + one, this.#round);
    if (share > 0 && this.#calls + given > this.#callsMax)
      this.#fail('I11_BUDGET', `${given} calls are given and ${this.#calls} used of ${this.#callsMax}`);
  }

  /** The fold says the same. */
  compare({ approvals, used }: Run): void {
    const open = [...this.#asked].flatMap(([id, { state }]) => (state === 'open' ? [id] : []));
    const [one, other] = [open.join(' '), [...approvals.open.keys()].join(' ')];
    if (one !== other) this.#fail('FOLD', `open approvals are ${other}; the events say ${one}`);
    if (used.llmCalls !== this.#calls)
      this.#fail('FOLD', `${used.llmCalls} calls are used, the events say ${this.#calls}`);
  }

  #said(approvalId: ApprovalId, { kind, id }: Actor, command: unknown): void {
    const words = this.#words.get(approvalId) ?? new Map<string, string>();
    this.#words.set(approvalId, words.set(`${kind} ${id}`, JSON.stringify(command ?? null)));
  }

  /** As many different persons as it takes have said it last, each for this command, and none of them asked for the run. */
  #enough({ approvalId, decision, by, command, approvedBy = [by], grantOf, selfApproved }: Decided): void {
    if (decision !== 'approved' && decision !== 'edited') return;
    const ids = new Set(approvedBy.map(({ kind, id }) => `${kind} ${id}`));
    if (ids.size < this.#needed) this.#fail('I6_APPROVAL', `${approvalId} takes ${this.#needed} and has ${ids.size}`);
    const requester = `${this.#requester?.kind} ${this.#requester?.id}`;
    if (ids.has(requester) && selfApproved !== true)
      this.#fail('I6_APPROVAL', `${approvalId} is approved by its author`);
    if (grantOf !== undefined) return;
    this.#said(approvalId, by, command);
    const words = this.#words.get(approvalId);
    for (const id of ids)
      if (words?.get(id) !== JSON.stringify(command ?? null))
        this.#fail('I6_APPROVAL', `${id} has not said ${approvalId}`);
  }

  #decided({ approvalId, decision, by, decidedAt }: Decided): void {
    const asked = this.#asked.get(approvalId);
    const [before, isExpired] = [decision === 'revoked' ? 'approved' : 'open', decision === 'expired'];
    if (asked?.state !== before) this.#fail('I6_APPROVAL', `${approvalId} was ${decision} and is ${asked?.state}`);
    if (asked === undefined) return;
    if (decision !== 'revoked' && decidedAt >= asked.expiresAt !== isExpired)
      this.#fail('I6_APPROVAL', `${approvalId} was ${decision} at ${decidedAt} and is valid until ${asked.expiresAt}`);
    if (by.kind !== 'person' && !isExpired) this.#fail('I6_APPROVAL', `${approvalId} was ${decision} by ${by.kind}`);
    asked.state = decision;
  }

  #ended({ taskId, used }: { readonly taskId: TaskId; readonly used?: Usage | undefined }): void {
    this.#calls += used?.llmCalls ?? 0;
    this.#shares.delete(taskId);
    for (const asked of this.#asked.values())
      if (asked.taskId === taskId && asked.state === 'open') asked.state = 'withdrawn';
  }
}

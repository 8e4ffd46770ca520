import type { EditTrigger, RecordedRunEvent, TaskId } from '#proto';

type Refuse = (check: string, message: string) => void;

interface Round {
  readonly editId: string;
  readonly triggers: readonly EditTrigger[];
  lockPolicy: 'strict' | 'scoped';
  readonly deadlineAt: string;
}

/** From a task to those that its lines lead to. */
export type Successors = ReadonlyMap<TaskId, readonly TaskId[]>;

/**
 * The safe assignment lock as the events of one run tell it (paper section 6.3): one round at a time, and nothing starts or
 * is skipped that the open round covers.
 */
export class LockAudit {
  readonly #fail: Refuse;
  #round: Round | null = null;
  /** The last round passed its deadline: rounds hold nothing until the planner speaks again. */
  #isSilent = false;

  constructor(fail: Refuse) {
    this.#fail = fail;
  }

  /** When the open round must have ended; null when none is open. */
  get deadlineAt(): string | null {
    return this.#round?.deadlineAt ?? null;
  }

  take(event: RecordedRunEvent): void {
    switch (event.type) {
      case 'EDIT_OPENED': {
        const { editId, triggers, lockPolicy, deadlineAt } = event.data;
        if (this.#round !== null) this.#fail('LOCK', `round ${editId} opens while ${this.#round.editId} is open`);
        this.#round = { editId, triggers, lockPolicy, deadlineAt };
        return;
      }
      case 'EDIT_REJECTED':
        this.#expect(event.data.editId);
        if (this.#round !== null) this.#round.lockPolicy = event.data.lockPolicy;
        this.#isSilent = false;
        return;
      case 'EDIT_ABANDONED':
        this.#expect(event.data.editId);
        this.#round = null;
        if (event.data.reason.code === 'DEADLINE') this.#isSilent = true;
        return;
      case 'CONSTELLATION_MODIFIED':
        if (event.data.editId === undefined) return;
        this.#expect(event.data.editId);
        this.#round = null;
        this.#isSilent = false;
        return;
      case 'RUN_COMPLETED':
      case 'RUN_FAILED':
      case 'RUN_CANCELLED':
        if (this.#round !== null) this.#fail('LOCK', `the run ends and round ${this.#round.editId} is open`);
        return;
      default:
    }
  }

  /** Why a task may neither start nor be skipped now; undefined when it may. */
  holds(taskId: TaskId, successors: Successors): string | undefined {
    if (this.#round === null || this.#isSilent) return undefined;
    const { editId, lockPolicy, triggers } = this.#round;
    if (lockPolicy === 'strict') return `${taskId} is held by round ${editId}, strict`;
    const from = triggers.flatMap((trigger) => (trigger.kind === 'task' ? [trigger.taskId] : []));
    if (!isDownstream(taskId, from, successors)) return undefined;
    return `${taskId} is downstream of ${from.join(', ')}, held by round ${editId}`;
  }

  #expect(editId: string): void {
    if (this.#round?.editId !== editId)
      this.#fail('LOCK', `${editId} ends, ${this.#round?.editId ?? 'no round'} is open`);
  }
}

function isDownstream(taskId: TaskId, from: readonly TaskId[], successors: Successors): boolean {
  const reached = new Set<TaskId>();
  const next = [...from];
  for (const task of next) {
    for (const successor of successors.get(task) ?? []) {
      if (successor === taskId) return true;
      if (!reached.has(successor)) next.push(successor);
      reached.add(successor);
    }
  }
  return false;
}

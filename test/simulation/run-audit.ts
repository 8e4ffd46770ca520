import { hash as digest } from 'node:crypto';
import {
  GENESIS_HASH,
  type LineId,
  RunCommit,
  type RecordedRunEvent,
  type RunEventData,
  type RunId,
  type TaskId,
  type TaskStatus,
} from '#proto';
import {
  checkInvariants,
  emptyRun,
  evolveCommit,
  findTask,
  type FleetView,
  isTerminal,
  type Run,
  RunDraft,
} from '#libs/constellation';
import { TrustAudit } from '../../libs/constellation/testing/trust.js';
import { ApprovalAudit } from './approval-audit.js';
import type { Fail } from './failure.js';
import { LockAudit } from './lock-audit.js';
import type { Attempt } from './simulated-attempts.js';
import type { StoredCommit } from './simulated-log.js';

interface AuditedTask {
  status: TaskStatus;
  attempt: number;
  stopping: boolean;
  /** The definition and the lines that lead to it, as they were when they were seen last. */
  shape: string;
}

export interface AuditParts {
  readonly runId: RunId;
  readonly fail: Fail;
  /** The end of an attempt as ATTEMPTS has it. */
  readonly endOf: (taskId: TaskId, attempt: number) => Attempt['end'];
  readonly fleet: () => Pick<FleetView, 'devices'>;
}

/** A schema costs as much as everything else about a commit; the first of each run is always looked at. */
const PARSED_EVERY = 3;
const MAY_FOLLOW_END = new Set<string>(['RUN_ANNOTATED', 'RUN_REOPENED']);
/** What was decided for one of these is never decided again. A late result only annotates, each time that it comes. */
const ONCE = /^(?:attempt .*\.end|verb .*)$/u;

/**
 * One run as its log tells it, judged commit by commit and in its own terms: what the fold says is compared with it, not
 * believed. Knows the promises of the contract, not how the core keeps them.
 */
export class RunAudit {
  /** The state after each commit, by its number; the first is the one before any. */
  readonly folds: (Run | undefined)[] = [undefined];
  readonly lock: LockAudit;
  readonly asks: ApprovalAudit;
  readonly #parts: AuditParts;
  readonly #trust = new TrustAudit();
  readonly #tasks = new Map<TaskId, AuditedTask>();
  readonly #satisfied = new Map<LineId, boolean>();
  readonly #ends = new Set<string>();
  readonly #causes = new Set<string>();
  #linesInto = new Map<TaskId, LineId[]>();
  #successors = new Map<TaskId, TaskId[]>();
  #number = 0;
  #sequence = 0;
  #hash = GENESIS_HASH;
  #over = false;
  #paused = false;

  constructor(parts: AuditParts) {
    this.#parts = parts;
    this.asks = new ApprovalAudit((check, message) => this.#fail(check, message));
    this.lock = new LockAudit((check, message) => this.#fail(check, message));
  }

  get run(): Run | undefined {
    return this.folds.at(-1);
  }

  /** The end of the attempt is a fact of the run. */
  hasEnded(taskId: TaskId, attempt: number): boolean {
    return this.#ends.has(`${taskId}.${attempt}`);
  }

  /** Something was decided for it, and is stored. */
  hasCause({ kind, id }: { readonly kind: string; readonly id: string }): boolean {
    return this.#causes.has(`${kind} ${id}`);
  }

  /** Judges the next commit. */
  take({ commit, text }: StoredCommit): void {
    this.#chain(commit, text);
    // What came twice at the same time was decided once.
    const causes = new Map(commit.causes.map((cause) => [`${cause.kind} ${cause.id}`, cause.rejected === true]));
    for (const [cause, isRejected] of causes) this.#cause(cause, isRejected);
    const after = evolveCommit(this.run, commit);
    this.folds.push(after);
    for (const { invariant, tasks, message } of checkInvariants(after)) {
      this.#fail(invariant, `${tasks.join(', ')} ${message}`);
    }
    this.#believe(commit);
    for (const event of commit.events) this.#event(event, after);
    this.#compare(after);
  }

  /** What may be believed of a plan, event by event. */
  #believe({ runId, events }: RunCommit): void {
    const draft = new RunDraft(this.folds.at(-2) ?? emptyRun(runId));
    for (const event of events) {
      draft.add(event);
      for (const message of this.#trust.take(event, draft.run, this.#parts.fleet())) this.#fail('TRUST', message);
    }
  }

  #fail(check: string, message: string): void {
    this.#parts.fail(check, `run ${this.#parts.runId.slice(0, 6)}, commit ${this.#number}: ${message}`);
  }

  /** I4: numbers and sequences without gaps, each commit hashed over the text that is stored. */
  #chain(commit: RunCommit, text: string): void {
    if (commit.number !== this.#number + 1) this.#fail('I4_CHAIN', `number ${commit.number} after ${this.#number}`);
    this.#number = commit.number;
    if (commit.prevHash !== this.#hash) this.#fail('I4_CHAIN', 'prevHash is not the hash before it');
    this.#hash = commit.hash;
    const unhashed = `${text.slice(0, text.lastIndexOf(',"hash":'))}}`;
    if (digest('sha256', unhashed, 'hex') !== commit.hash) this.#fail('I4_CHAIN', 'the hash is not that of the text');
    for (const { sequence } of commit.events) {
      if (sequence !== this.#sequence + 1) this.#fail('I4_CHAIN', `event ${sequence} after ${this.#sequence}`);
      this.#sequence = sequence;
    }
    if (commit.number % PARSED_EVERY !== 1) return;
    const parsed = RunCommit.safeParse(commit);
    if (!parsed.success) this.#fail('SCHEMA', parsed.error.message);
  }

  #cause(cause: string, isRejected: boolean): void {
    if (this.#causes.has(cause) && !isRejected && ONCE.test(cause))
      this.#fail('DOUBLE_APPLY', `${cause} was decided before`);
    this.#causes.add(cause);
  }

  #event(event: RecordedRunEvent, after: Run): void {
    if (this.#over && !MAY_FOLLOW_END.has(event.type)) this.#fail('I5_TRANSITIONS', `${event.type} after the end`);
    this.lock.take(event);
    this.asks.take(
      event,
      'taskId' in event.data && event.data.taskId !== undefined ? this.#tasks.get(event.data.taskId) : undefined,
    );
    switch (event.type) {
      case 'CONSTELLATION_MODIFIED':
        this.#restructure(after);
        return this.#judged(event.data.judged ?? []);
      case 'RUN_FORKED':
        return this.#forked(event.data, after);
      case 'TASK_STARTED':
        return this.#started(event.data.taskId, event.data.attempt);
      case 'TASK_COMPLETED':
      case 'TASK_FAILED':
      case 'TASK_CANCELLED':
        return this.#ended(event);
      case 'TASK_SKIPPED':
        this.#unheld(event.data.taskId);
        this.#to(event.data.taskId, 'SKIPPED', ({ status }) => status === 'PENDING');
        return this.#judged(event.data.lines);
      case 'TASK_STOP_REQUESTED': {
        const { taskId, attempt } = event.data;
        const task = this.#find(taskId);
        if (task.status !== 'RUNNING' || task.attempt !== attempt) this.#fail('I5_TRANSITIONS', `${taskId} is stopped`);
        task.stopping = true;
        return;
      }
      case 'TASK_REOPENED':
        this.#to(event.data.taskId, 'PENDING', ({ status }) => ['FAILED', 'SKIPPED', 'CANCELLED'].includes(status));
        for (const line of event.data.lines ?? []) this.#satisfied.delete(line);
        return;
      case 'RUN_REOPENED':
        if (!this.#over) this.#fail('I5_TRANSITIONS', 'RUN_REOPENED before the end');
        this.#over = false;
        this.#paused = false;
        return;
      case 'RUN_PAUSED':
        this.#paused = true;
        return;
      case 'RUN_RESUMED':
        this.#paused = false;
        return;
      case 'RUN_COMPLETED':
      case 'RUN_FAILED':
      case 'RUN_CANCELLED':
        this.#over = true;
        return;
      default:
    }
  }

  /** I3: what an edit added, what it removed, and what it must have left alone. */
  #restructure(after: Run): void {
    this.#linesInto = new Map();
    this.#successors = new Map();
    const shapes = new Map<TaskId, string>();
    for (const { star } of after.tasks) shapes.set(star.id, JSON.stringify(star));
    for (const line of after.graph.lines ?? []) {
      this.#linesInto.set(line.to, [...(this.#linesInto.get(line.to) ?? []), line.id]);
      this.#successors.set(line.from, [...(this.#successors.get(line.from) ?? []), line.to]);
      shapes.set(line.to, `${shapes.get(line.to)} ${JSON.stringify(line)}`);
    }
    for (const [taskId, { status, shape }] of this.#tasks) {
      const now = shapes.get(taskId);
      if (status !== 'PENDING' && now !== shape)
        this.#fail('I3_ONLY_PENDING', `${taskId} is ${status} and was changed`);
      if (now === undefined) this.#tasks.delete(taskId);
    }
    for (const [taskId, shape] of shapes) {
      const known = this.#tasks.get(taskId) ?? { status: 'PENDING', attempt: 0, stopping: false };
      this.#tasks.set(taskId, { ...known, shape });
    }
  }

  #forked({ tasks, lines }: RunEventData<'RUN_FORKED'>, after: Run): void {
    this.#restructure(after);
    for (const { star, status, attempt } of tasks) Object.assign(this.#find(star.id), { status, attempt });
    for (const { line, satisfied } of lines) if (satisfied !== null) this.#satisfied.set(line.id, satisfied);
  }

  /** I1, the lock and the lines: a task starts when it is pending and free, with the next attempt, and all its lines are satisfied. */
  #started(taskId: TaskId, attempt: number): void {
    if (this.#paused) this.#fail('PAUSED', `${taskId} was started while the run is paused`);
    this.#unheld(taskId);
    const task = this.#find(taskId);
    const open = (this.#linesInto.get(taskId) ?? []).filter((line) => this.#satisfied.get(line) !== true);
    if (open.length > 0) this.#fail('PREDECESSORS', `${taskId} was started before ${open.join(', ')} was satisfied`);
    if (attempt !== task.attempt + 1) this.#fail('I1_SINGLE_ATTEMPT', `${taskId}: ${attempt} after ${task.attempt}`);
    this.#to(taskId, 'RUNNING', ({ status }) => status === 'PENDING');
    task.attempt = attempt;
    task.stopping = false;
  }

  /** An end counts once, for the attempt that runs, and is the one that ATTEMPTS has. */
  #ended({
    type,
    data,
  }: Extract<RecordedRunEvent, { type: 'TASK_COMPLETED' | 'TASK_FAILED' | 'TASK_CANCELLED' }>): void {
    const { taskId, attempt, attemptHash = null } = data;
    const task = this.#find(taskId);
    if (attempt !== task.attempt) this.#fail('FENCING', `${taskId}: attempt ${attempt} ended, ${task.attempt} runs`);
    if (attemptHash !== null && this.#parts.endOf(taskId, attempt)?.hash !== attemptHash) {
      this.#fail('FENCING', `${taskId}.${attempt} ended as ATTEMPTS does not say`);
    }
    const mayEndUnheard = task.status === 'PENDING' || task.stopping || this.#sequence === 0 || this.#number === 1;
    if (attemptHash === null && !mayEndUnheard) this.#fail('FENCING', `${taskId}.${attempt} ended and nobody said so`);
    if (type === 'TASK_COMPLETED') this.#to(taskId, 'COMPLETED', ({ status }) => status === 'RUNNING');
    else if (type === 'TASK_FAILED') {
      this.#to(
        taskId,
        'FAILED',
        ({ status }) => status === 'RUNNING' || (status === 'PENDING' && attemptHash === null),
      );
    } else this.#to(taskId, 'CANCELLED', ({ status, stopping }) => status === 'PENDING' || stopping);
    if (attempt > 0) this.#ends.add(`${taskId}.${attempt}`);
    this.#judged(data.lines);
  }

  #unheld(taskId: TaskId): void {
    const why = this.lock.holds(taskId, this.#successors);
    if (why !== undefined) this.#fail('LOCK', why);
  }

  #to(taskId: TaskId, status: TaskStatus, isAllowed: (task: AuditedTask) => boolean): void {
    const task = this.#find(taskId);
    if (!isAllowed(task)) this.#fail('I5_TRANSITIONS', `${taskId} went from ${task.status} to ${status}`);
    task.status = status;
  }

  #find(taskId: TaskId): AuditedTask {
    const task = this.#tasks.get(taskId);
    if (task !== undefined) return task;
    this.#fail('I5_TRANSITIONS', `there is no task ${taskId}`);
    return { status: 'PENDING', attempt: 0, stopping: false, shape: '' };
  }

  #judged(lines: readonly { readonly id: LineId; readonly satisfied: boolean }[]): void {
    for (const { id, satisfied } of lines) this.#satisfied.set(id, satisfied);
  }

  /** The fold says the same. */
  #compare(after: Run): void {
    for (const { star, status, attempt } of after.tasks) {
      const task = this.#tasks.get(star.id);
      if (task?.status !== status || task.attempt !== attempt) {
        const said = `the events say ${task?.status} ${task?.attempt}`;
        this.#fail('FOLD', `${star.id} is ${status} in attempt ${attempt}, ${said}`);
      }
    }
    this.asks.compare(after);
    if (isTerminal(after) !== this.#over) this.#fail('FOLD', `the run is ${after.phase}`);
    for (const taskId of this.#tasks.keys()) {
      if (findTask(after, taskId) === undefined) this.#fail('FOLD', `${taskId} is gone`);
    }
  }
}

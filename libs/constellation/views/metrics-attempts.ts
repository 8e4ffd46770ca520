import type { Instant, RunEventData, TaskId, Usage } from '#proto';
import { covered, type Interval } from '../values/index.js';

/** One attempt at a task, as it was recorded. */
export interface AttemptMetrics {
  readonly taskId: TaskId;
  readonly attempt: number;
  readonly deviceId: string;
  /** Milliseconds that it worked, from its start to its end, without `waitedMs`; null while it runs. */
  readonly workedMs: number | null;
  /** Milliseconds of these that it waited for a person: for an approval or for an answer; null while it runs. */
  readonly waitedMs: number | null;
  readonly outcome: 'running' | 'completed' | 'failed' | 'cancelled';
  /** What an agent used up; null where nothing was recorded, as of exact commands. */
  readonly used: Usage | null;
}

interface Running {
  readonly index: number;
  readonly from: number;
  /** What is asked and not answered yet, by approval. */
  readonly asked: Map<string, number>;
  readonly waits: Interval[];
}

/** Attempts of a run: how long each worked, and how long it waited for people meanwhile. Private to one walk over the events. */
export class Attempts {
  readonly #all: AttemptMetrics[] = [];
  readonly #running = new Map<TaskId, Running>();
  /** What the last attempt of a task took. */
  readonly #workedMs = new Map<TaskId, number>();
  #peak = 0;
  #skewed = 0;

  get all(): readonly AttemptMetrics[] {
    return this.#all;
  }

  /** Most that ran at once. */
  get peak(): number {
    return this.#peak;
  }

  /** Attempts of which something ended before it began, by the clocks that recorded it: their times are no times. */
  get skewed(): number {
    return this.#skewed;
  }

  /** Of the last attempt that has ended; 0 when there is none. */
  workedMsOf(taskId: TaskId): number {
    return this.#workedMs.get(taskId) ?? 0;
  }

  sum(of: 'workedMs' | 'waitedMs'): number {
    return this.#all.reduce((total, attempt) => total + (attempt[of] ?? 0), 0);
  }

  start({ taskId, attempt, deviceId, startedAt }: RunEventData<'TASK_STARTED'>): void {
    const index = this.#all.length;
    this.#all.push({ taskId, attempt, deviceId, workedMs: null, waitedMs: null, outcome: 'running', used: null });
    this.#running.set(taskId, { index, from: Date.parse(startedAt), asked: new Map(), waits: [] });
    this.#peak = Math.max(this.#peak, this.#running.size);
  }

  ask({ taskId, ask, requestedAt }: RunEventData<'APPROVAL_REQUESTED'>): void {
    this.#running.get(taskId)?.asked.set(ask.approvalId, Date.parse(requestedAt));
  }

  /** What says that a grant is revoked answers nothing. */
  answer({ taskId, approvalId, decidedAt }: RunEventData<'APPROVAL_DECIDED'>): void {
    const running = this.#running.get(taskId);
    const from = running?.asked.get(approvalId);
    if (running === undefined || from === undefined) return;
    running.asked.delete(approvalId);
    running.waits.push({ from, until: Date.parse(decidedAt) });
  }

  /** What was asked and never answered was waited for until now. */
  end(taskId: TaskId, at: Instant, outcome: AttemptMetrics['outcome'], used: Usage | null = null): void {
    const running = this.#running.get(taskId);
    if (running === undefined) return;
    this.#running.delete(taskId);
    const { index, from, asked, waits } = running;
    if (Date.parse(at) < from || waits.some((wait) => wait.until < wait.from)) this.#skewed++;
    const until = Math.max(from, Date.parse(at));
    const open = [...asked.values()].map((since) => ({ from: since, until }));
    const within = [...waits, ...open].map((wait) => ({
      from: Math.max(from, wait.from),
      until: Math.min(until, wait.until),
    }));
    const waitedMs = covered(within);
    const workedMs = until - from - waitedMs;
    this.#workedMs.set(taskId, workedMs);
    const attempt = this.#all[index];
    if (attempt !== undefined) this.#all[index] = { ...attempt, workedMs, waitedMs, outcome, used };
  }
}

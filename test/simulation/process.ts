import type { Scheduler } from './scheduler.js';

/** What became of a message on the way: it never came, it came and nobody heard the answer, or it came late. */
export type Mishap =
  | { readonly kind: 'request-lost' }
  | { readonly kind: 'answer-lost' }
  /** Nobody waits for it any more when it comes. */
  | { readonly kind: 'request-late'; readonly byMs: number };

export interface Call<T> {
  /** Milliseconds to the server, and back. */
  readonly there: number;
  readonly back: number;
  readonly timeoutMs: number;
  readonly mishap?: Mishap | undefined;
  /** Done by the server when the request arrives, whether or not the caller still lives. */
  readonly work: () => T;
}

/** Nobody answered in time: it was done or it was not. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError';
}

/**
 * One operating system process: what it waits for comes to it only while it runs.
 *
 *   running --freeze--> frozen (keeps its memory; what comes is kept) --thaw--> running, first what was kept
 *      \----kill---------/--kill--> dead: nothing comes any more, what waits waits for ever
 */
export class Process {
  readonly #scheduler: Scheduler;
  readonly #kept: (() => void)[] = [];
  #state: 'running' | 'frozen' | 'dead' = 'running';

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  get state(): 'running' | 'frozen' | 'dead' {
    return this.#state;
  }

  /** Does it now, when it thaws, or never. */
  post(run: () => void): void {
    if (this.#state === 'dead') return;
    if (this.#state === 'frozen' || this.#kept.length > 0) this.#kept.push(run);
    else run();
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.#scheduler.after(ms, () => this.post(resolve)));
  }

  call<T>({ there, back, timeoutMs, mishap, work }: Call<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const answer = (settle: () => void) => this.#scheduler.after(back, () => this.post(settle));
      const giveUp = () =>
        this.#scheduler.after(timeoutMs, () => this.post(() => reject(new NoAnswerError('the server did not answer'))));
      if (mishap?.kind === 'request-lost') return giveUp();
      const delay = there + (mishap?.kind === 'request-late' ? mishap.byMs : 0);
      const waits = mishap === undefined;
      if (!waits) giveUp();
      this.#scheduler.after(delay, () => {
        try {
          const value = work();
          if (waits) answer(() => resolve(value));
        } catch (error) {
          if (waits) answer(() => reject(error instanceof Error ? error : new Error(String(error))));
        }
      });
    });
  }

  freeze(): void {
    if (this.#state === 'running') this.#state = 'frozen';
  }

  thaw(): void {
    if (this.#state !== 'frozen') return;
    this.#state = 'running';
    this.#release();
  }

  kill(): void {
    this.#state = 'dead';
    this.#kept.length = 0;
  }

  /** One after the other, as a process that is behind reads its sockets. */
  #release(): void {
    if (this.#state !== 'running') return;
    const next = this.#kept.shift();
    if (next === undefined) return;
    next();
    this.#scheduler.after(0, () => this.#release());
  }
}

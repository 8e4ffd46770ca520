// Keeps one process alive.
//
//   start ──► running ──ends by itself──► waiting (backoff) ──► starting ──► running
//                │                            │                    │
//                └─────────── stop ───────────┴────────────────────┴──► stopped
import { setTimeout as sleep } from 'node:timers/promises';
import { deathsAfter, restartDelayMs } from './restarts.js';
import { messageOf } from '../terminal/index.js';

/** A process that runs: ours, or one that was found alive. */
export interface Running {
  readonly pid: number;
  readonly exited: Promise<unknown>;
  stop(): Promise<void>;
}

interface SupervisedOptions<T extends Running> {
  readonly name: string;
  /** Resolves when it is ready. Given the one before, so that ports stay; must end what it began when `signal` aborts. */
  readonly start: (before: T | undefined, signal: AbortSignal) => Promise<T>;
  readonly now: () => number;
  /** Told about deaths and restarts, for people. */
  readonly report: (text: string) => void;
  /** Told after every start, before anybody relies on it. What it throws keeps the first start from counting, and is told of the others. */
  readonly onStart?: (running: T) => Promise<void>;
}

export class Supervised<T extends Running> {
  readonly name: string;
  readonly #options: SupervisedOptions<T>;
  readonly #stopping = new AbortController();
  #running: T;
  #ready = true;
  /** It ends because somebody wants it started anew. */
  #isWanted = false;
  #back = Promise.withResolvers<void>();
  readonly #kept: Promise<void>;

  private constructor(options: SupervisedOptions<T>, running: T) {
    this.name = options.name;
    this.#options = options;
    this.#running = running;
    this.#kept = this.#keep();
  }

  /** The first start has to work: a system that cannot start says so instead of trying for ever. */
  static async start<T extends Running>(options: SupervisedOptions<T>, signal: AbortSignal): Promise<Supervised<T>> {
    const running = await options.start(undefined, signal);
    try {
      await options.onStart?.(running);
    } catch (error) {
      await running.stop();
      throw error;
    }
    return new Supervised(options, running);
  }

  get current(): T {
    return this.#running;
  }

  /** False between a death and the next start. */
  get isReady(): boolean {
    return this.#ready;
  }

  /** Ends it and resolves when it is ready again, at the first try; throws why it was not. */
  async restart(): Promise<void> {
    this.#isWanted = true;
    const back = this.#back.promise;
    await this.#running.stop();
    await back;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running.stop();
    await this.#kept;
  }

  async #keep(): Promise<void> {
    const { now, name, report } = this.#options;
    const { signal } = this.#stopping;
    let deaths = 0;
    for (;;) {
      const since = now();
      await this.#running.exited;
      if (signal.aborted) return;
      this.#ready = false;
      const diedAt = now();
      const isWanted = this.#isWanted;
      this.#isWanted = false;
      deaths = isWanted ? 1 : deathsAfter(deaths, diedAt - since);
      report(isWanted ? `${name} is started anew` : `${name} ended; starting it again`);
      while (!(await this.#tryStart(deaths))) {
        if (signal.aborted) return;
        deaths += 1;
      }
      if (signal.aborted) return this.#running.stop();
      this.#ready = true;
      this.#back.resolve();
      this.#back = Promise.withResolvers();
      report(`${name} is back after ${((now() - diedAt) / 1000).toFixed(1)} s`);
    }
  }

  async #tryStart(deaths: number): Promise<boolean> {
    const { start, onStart, name, report } = this.#options;
    const { signal } = this.#stopping;
    try {
      await sleep(restartDelayMs(deaths), undefined, { signal });
      this.#running = await start(this.#running, signal);
    } catch (error) {
      if (!signal.aborted) report(`${name} did not start: ${messageOf(error)}`);
      const failed = this.#back;
      this.#back = Promise.withResolvers();
      failed.promise.catch(() => undefined);
      failed.reject(error);
      return false;
    }
    // It runs: a second one would be in its way.
    await onStart?.(this.#running).catch((error: unknown) => report(`${name} runs, but: ${messageOf(error)}`));
    return true;
  }
}

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
  /** Told after every start, before anybody relies on it. */
  readonly onStart?: (running: T) => Promise<void>;
}

export class Supervised<T extends Running> {
  readonly name: string;
  readonly #options: SupervisedOptions<T>;
  readonly #stopping = new AbortController();
  #running: T;
  #ready = true;
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
    await options.onStart?.(running);
    return new Supervised(options, running);
  }

  get current(): T {
    return this.#running;
  }

  /** False between a death and the next start. */
  get isReady(): boolean {
    return this.#ready;
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
      deaths = deathsAfter(deaths, diedAt - since);
      report(`${name} ended; starting it again`);
      while (!(await this.#tryStart(deaths))) {
        if (signal.aborted) return;
        deaths += 1;
      }
      if (signal.aborted) return this.#running.stop();
      this.#ready = true;
      report(`${name} is back after ${((now() - diedAt) / 1000).toFixed(1)} s`);
    }
  }

  async #tryStart(deaths: number): Promise<boolean> {
    const { start, onStart, name, report } = this.#options;
    const { signal } = this.#stopping;
    try {
      await sleep(restartDelayMs(deaths), undefined, { signal });
      this.#running = await start(this.#running, signal);
      await onStart?.(this.#running);
      return true;
    } catch (error) {
      if (!signal.aborted) report(`${name} did not start: ${messageOf(error)}`);
      return false;
    }
  }
}

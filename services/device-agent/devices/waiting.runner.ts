import { setTimeout as sleep } from 'node:timers/promises';

/** Waits, or until the signal is aborted: then the timer is cleared and it returns at once. */
export async function waitUnlessAborted(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {});
}

/** Waits between tries that grow from `msMin` to `msMax`. */
export class Backoff {
  readonly #msMin: number;
  readonly #msMax: number;
  #ms: number;

  constructor({ msMin, msMax }: { msMin: number; msMax: number }) {
    this.#msMin = msMin;
    this.#msMax = msMax;
    this.#ms = msMin;
  }

  next(): number {
    const ms = this.#ms;
    this.#ms = Math.min(this.#ms * 2, this.#msMax);
    return ms;
  }

  reset(): void {
    this.#ms = this.#msMin;
  }
}

/** Waits in milliseconds, from the first to the longest. */
export interface BackoffRange {
  readonly msMin: number;
  readonly msMax: number;
}

/** Beyond it every wait is the longest one anyway, and the number stays one. */
const DOUBLINGS_MAX = 30;

/** The wait before the next try, in milliseconds, after `failures` in a row (at least 1): doubled with each. */
export const doubledMs = ({ msMin, msMax }: BackoffRange, failures: number): number =>
  Math.min(msMax, msMin * 2 ** Math.min(Math.max(failures, 1) - 1, DOUBLINGS_MAX));

/** Between half of a wait and all of it by `random` in [0, 1), so that those who failed together do not come back together. */
export const spreadMs = (ms: number, random: number): number => Math.round(ms * (0.5 + random / 2));

/** The waits of one thing that is tried again and again. */
export class Backoff {
  readonly #range: BackoffRange;
  #failures = 0;

  constructor(range: BackoffRange) {
    this.#range = range;
  }

  /** The wait after one more failure, in milliseconds. */
  next(): number {
    this.#failures += 1;
    return doubledMs(this.#range, this.#failures);
  }

  /** It has worked: the next wait is the first one again. */
  reset(): void {
    this.#failures = 0;
  }
}

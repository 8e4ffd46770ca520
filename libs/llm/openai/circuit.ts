export interface BreakerOptions {
  /** Failures in a row after which an endpoint is left alone. */
  readonly failures: number;
  /** For how long, in milliseconds; then one request may try. */
  readonly openMs: number;
}

/** What a request says about its endpoint. */
export interface Shown {
  readonly shows: 'health' | 'illness' | 'nothing';
}

export const BREAKER: BreakerOptions = { failures: 5, openMs: 15_000 };

/** Leaves an endpoint alone that failed too often lately. */
export class CircuitBreaker {
  readonly #options: BreakerOptions;
  readonly #now: () => number;
  /** In a row. */
  #failures = 0;
  /** Null: it is closed. */
  #openedMs: number | null = null;
  #isTrying = false;

  constructor(options: BreakerOptions, now: () => number) {
    this.#options = options;
    this.#now = now;
  }

  /** Makes one request, or says that the circuit is open. After a rest one request tries; the others do not wait for it here. */
  async run<T extends Shown>(request: () => Promise<T>): Promise<T | 'open'> {
    const isTrial = this.#openedMs !== null;
    if (isTrial && (this.#isTrying || !this.#isRested())) return 'open';
    this.#isTrying = isTrial;
    try {
      const made = await request();
      this.#learn(made.shows, isTrial);
      return made;
    } finally {
      if (isTrial) this.#isTrying = false;
    }
  }

  #isRested(): boolean {
    return this.#now() - (this.#openedMs ?? 0) >= this.#options.openMs;
  }

  #learn(shows: Shown['shows'], isTrial: boolean): void {
    if (isTrial) {
      // A trial that was broken off has shown nothing, and must not count as a recovery.
      this.#openedMs = shows === 'health' ? null : this.#now();
      if (shows === 'health') this.#failures = 0;
    } else if (shows !== 'illness') this.#failures = 0;
    else if (++this.#failures >= this.#options.failures) this.#openedMs ??= this.#now();
  }
}

import {
  BrokenCircuitError,
  CircuitState,
  circuitBreaker,
  ConsecutiveBreaker,
  handleWhenResult,
  type CircuitBreakerPolicy,
} from 'cockatiel';

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
  readonly #breaker: CircuitBreakerPolicy;

  constructor({ failures, openMs }: BreakerOptions) {
    this.#breaker = circuitBreaker(
      handleWhenResult((made) => this.#countsAsFailure(made as Shown)),
      { halfOpenAfter: openMs, breaker: new ConsecutiveBreaker(failures) },
    );
  }

  /** Makes one request, or says that the circuit is open. */
  async run<T extends Shown>(request: () => Promise<T>): Promise<T | 'open'> {
    // One request tries whether it works again; the others do not wait for it here.
    if (this.#breaker.state === CircuitState.HalfOpen) return 'open';
    try {
      return await this.#breaker.execute(request);
    } catch (error) {
      if (error instanceof BrokenCircuitError) return 'open';
      throw error;
    }
  }

  /** A trial after a pause that was broken off has shown nothing, and must not count as a recovery. */
  #countsAsFailure({ shows }: Shown): boolean {
    return shows === 'illness' || (shows === 'nothing' && this.#breaker.state === CircuitState.HalfOpen);
  }
}

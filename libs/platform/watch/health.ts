import { HealthIndicatorService, type HealthIndicatorResult } from '@nestjs/terminus';

/** Longer than this is as good as no answer. */
const CHECK_MS_MAX = 2_000;
/** Probes of several supervisors share one check. */
const CHECK_CACHE_MS = 500;

/** Throws when the thing is down; may return details to show. */
export type HealthCheckFunction = () => Promise<Record<string, unknown> | void>;

/** What `/readyz` asks. A module registers its own indicator when it is made; all of them must be up. */
export class HealthIndicators {
  readonly #checks = new Map<string, HealthCheckFunction>();
  readonly #service = new HealthIndicatorService();

  register(name: string, check: HealthCheckFunction): void {
    this.#checks.set(name, check);
  }

  all(): (() => PromiseLike<HealthIndicatorResult>)[] {
    return [...this.#checks].map(
      ([name, check]) =>
        () =>
          this.#service.check(name).attempt(check).withTimeout(CHECK_MS_MAX).cacheFor(CHECK_CACHE_MS),
    );
  }
}

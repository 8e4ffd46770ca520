import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';

/** How often the delay of the event loop is looked at, in milliseconds: each look wakes a process that has nothing else to do. */
const LOOP_LOOK_MS = 100;

/** A look at something that takes longer than this has failed: who collects metrics waits ten seconds by default. */
const LOOK_MS_MAX = 4_000;

/** The service's metrics, named `orrery_<name>`; asking twice for a name gives the same metric. */
export class Metrics {
  readonly registry = new Registry();
  readonly #looks = new Map<string, () => Promise<void>>();
  readonly #failed: Gauge<'look'>;

  constructor(service: string) {
    this.registry.setDefaultLabels({ service });
    collectDefaultMetrics({ register: this.registry, eventLoopMonitoringPrecision: LOOP_LOOK_MS });
    this.#failed = this.gauge('look_failed', '1 when what is looked up for these metrics could not be, 0 otherwise', [
      'look',
    ]);
  }

  /** Every metric as Prometheus reads it, with what is looked up now. Never fails: what cannot be looked up is left out. */
  async text(): Promise<string> {
    await Promise.all([...this.#looks.values()].map((look) => look()));
    return this.registry.metrics();
  }

  /**
   * Gauges that tell how something is now: `look` finds it out and sets them whenever somebody collects metrics, once for all who do
   * so at the same time. While it fails they have no value.
   */
  look(name: string, gauges: readonly Gauges[], look: () => Promise<void> | void): void {
    let looking: Promise<void> | undefined;
    const lookNow = async (): Promise<void> => {
      gauges.forEach(empty);
      const failed = await isFailing(look).finally(() => (looking = undefined));
      if (failed) gauges.forEach(empty);
      this.#failed.set({ look: name }, failed ? 1 : 0);
    };
    this.#looks.set(name, () => (looking ??= lookNow()));
  }

  counter<L extends string = never>(name: string, help: string, labelNames: readonly L[] = []): Counter<L> {
    return this.#once(name, (full, registers) => new Counter<L>({ name: full, help, labelNames, registers }));
  }

  gauge<L extends string = never>(name: string, help: string, labelNames: readonly L[] = []): Gauge<L> {
    return this.#once(name, (full, registers) => new Gauge<L>({ name: full, help, labelNames, registers }));
  }

  histogram<L extends string = never>(
    name: string,
    help: string,
    { labelNames = [], buckets }: { labelNames?: readonly L[]; buckets: number[] },
  ): Histogram<L> {
    return this.#once(
      name,
      (full, registers) => new Histogram<L>({ name: full, help, labelNames, buckets, registers }),
    );
  }

  #once<M>(name: string, make: (name: string, registers: Registry[]) => M): M {
    const full = `orrery_${name}`;
    return (this.registry.getSingleMetric(full) as M | undefined) ?? make(full, [this.registry]);
  }
}

/** Whether it fails, or does not end in time. */
async function isFailing(look: () => Promise<void> | void): Promise<boolean> {
  const late = Promise.withResolvers<true>();
  const timer = setTimeout(() => late.resolve(true), LOOK_MS_MAX);
  try {
    return await Promise.race([late.promise, done(look)]);
  } catch {
    return true;
  } finally {
    clearTimeout(timer);
  }
}

async function done(look: () => Promise<void> | void): Promise<false> {
  await look();
  return false;
}

type Gauges = Pick<Gauge, 'reset' | 'remove'>;

/** One without labels is 0 when it is reset, which is a value. */
function empty(gauge: Gauges): void {
  gauge.reset();
  gauge.remove({});
}

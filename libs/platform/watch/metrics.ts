import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';

/** The service's metrics, named `orrery_<name>`; asking twice for a name gives the same metric. */
export class Metrics {
  readonly registry = new Registry();

  constructor(service: string) {
    this.registry.setDefaultLabels({ service });
    collectDefaultMetrics({ register: this.registry });
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

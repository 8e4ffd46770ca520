import { setTimeout as sleep } from 'node:timers/promises';
import type { ConsumerInfo } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { ConnectionWatch } from '../connection/index.js';
import { managerOf } from '../streams/index.js';
import type { Consumption } from './consume.adapter.js';
import { durableProblem, LOOKS_STILL, type DurableStand } from './standing.js';

/** A durable that changes or stands still is found within four of these. */
const LOOK_MS = 3_000;

/** Looks at the durables that a service takes from, and knows what is wrong with them. */
export class DurableWatch {
  readonly #nc: NatsConnection;
  readonly #taken: () => readonly Consumption[];
  readonly #lookMs: number;
  readonly #stopped = new AbortController();
  #looks = new Map<string, readonly DurableStand[]>();
  #problem: string | undefined;
  #watching: Promise<void> | undefined;

  /** `taken`: what the service takes from at the moment. `lookMs`: between two looks, in milliseconds. */
  constructor(nc: NatsConnection, taken: () => readonly Consumption[], lookMs = LOOK_MS) {
    this.#nc = nc;
    this.#taken = taken;
    this.#lookMs = lookMs;
  }

  begin(): void {
    this.#watching ??= this.#watch();
  }

  /** The first durable that is not well, as of the last look that succeeded. */
  get problem(): string | undefined {
    return this.#problem;
  }

  async end(): Promise<void> {
    this.#stopped.abort();
    await this.#watching;
  }

  async #watch(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted && !this.#nc.isClosed()) {
      await sleep(this.#lookMs, undefined, { signal }).catch(() => undefined);
      // A server that is away delivers nothing: what was seen before says nothing about the durables.
      if (!signal.aborted) await this.#look().catch(() => this.#looks.clear());
    }
  }

  async #look(): Promise<void> {
    const looks = new Map<string, readonly DurableStand[]>();
    let problem: string | undefined;
    for (const [stream, taken] of Map.groupBy(this.#taken(), ({ spec }) => spec.stream)) {
      const found = await this.#durablesOf(stream);
      for (const { spec, asksSince } of taken) {
        const info = found.get(spec.durable);
        const before = this.#looks.get(spec.durable) ?? [];
        const seen = info === undefined ? [] : [...before, standOf(info, asksSince())].slice(-LOOKS_STILL);
        looks.set(spec.durable, seen);
        problem ??= durableProblem(spec, info, seen);
      }
    }
    this.#looks = looks;
    this.#problem = problem;
  }

  /** All of a stream in one answer: a replica may take from a hundred. */
  #durablesOf(stream: string): Promise<Map<string, ConsumerInfo>> {
    return ConnectionWatch.of(this.#nc).request(async () => {
      const found = new Map<string, ConsumerInfo>();
      for await (const info of (await managerOf(this.#nc)).consumers.list(stream)) found.set(info.name, info);
      return found;
    });
  }
}

function standOf({ delivered, num_pending: waiting }: ConsumerInfo, asksSince: number | undefined): DurableStand {
  return { at: performance.now(), delivered: delivered.consumer_seq, waiting, asksSince };
}

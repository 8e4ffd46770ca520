import { jetstream } from '@nats-io/jetstream';
import { errors, type NatsConnection } from '@nats-io/transport-node';
import { PARTITIONS, partitionOf, type RunId, subjects } from '#proto';
import { runIdOf } from '#libs/event-log';
import type { CommitWatch } from './commit-watch.js';

/** Eight tasks in four steps, three wide. */
export const TASKS: readonly string[] = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
/** Each as [before, after]: `after` starts when `before` has succeeded. */
export const LINES = ['ab', 'ac', 'ad', 'be', 'ce', 'cf', 'dg', 'eh', 'fh', 'gh'].map(
  ([from = '', to = '']) => [from, to] as const,
);

/** Requests from outside, and in every partition always as many runs at work: whoever dies, dies with both hands full. */
export class RunLoad {
  /** Runs whose requests the server has acknowledged. */
  readonly acknowledged: RunId[] = [];
  readonly #nc: NatsConnection;
  readonly #watch: CommitWatch;
  readonly #devices: readonly string[];
  readonly #unused = Array.from({ length: PARTITIONS }, (): string[] => []);
  #tried = 0;
  #stopping = false;
  #chains: Promise<void>[] = [];

  constructor(nc: NatsConnection, watch: CommitWatch, devices: readonly string[]) {
    this.#nc = nc;
    this.#watch = watch;
    this.#devices = devices;
  }

  start(runsPerPartition: number): void {
    const partitions = Array.from({ length: PARTITIONS * runsPerPartition }, (_, index) => index % PARTITIONS);
    this.#chains = partitions.map((partition) => this.#chain(partition));
  }

  /** Resolves when everything that was submitted has ended. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#chains);
    await Promise.all(this.acknowledged.map((runId) => this.#watch.untilEnd(runId)));
  }

  /** One run more in the partition. */
  async submit(partition: number): Promise<RunId> {
    const requestId = this.#requestIn(partition);
    await this.#publish(JSON.stringify(this.#request(requestId)));
    const runId = runIdOf('default', requestId);
    this.acknowledged.push(runId);
    return runId;
  }

  /** Until the server says that it has it: the same request is the same run, however often it is there. */
  async #publish(request: string): Promise<void> {
    for (;;) {
      try {
        await jetstream(this.#nc).publish(subjects.requests, request);
        return;
      } catch (error) {
        if (!(error instanceof errors.TimeoutError)) throw error;
      }
    }
  }

  async #chain(partition: number): Promise<void> {
    while (!this.#stopping) await this.#watch.untilEnd(await this.submit(partition));
  }

  /** Run ids are hashes of request ids: one after the other is tried until one falls into the partition. */
  #requestIn(partition: number): string {
    for (;;) {
      const found = this.#unused[partition]?.shift();
      if (found !== undefined) return found;
      this.#tried += 1;
      const requestId = `load-${this.#tried}`;
      this.#unused[partitionOf(runIdOf('default', requestId))]?.push(requestId);
    }
  }

  #request(requestId: string): object {
    const tasks = TASKS.map((id, index) => ({
      id,
      name: id,
      target: { device: this.#devices[index % this.#devices.length] },
      command: { tool: 'EXEC_CLI', arguments: { command: `echo ${id}` } },
    }));
    const lines = LINES.map(([from, to]) => ({ id: `${from}${to}`, from, to, type: 'success-only' }));
    return { requestId, constellation: { name: 'load', tasks, lines } };
  }
}

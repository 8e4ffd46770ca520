import { jetstream } from '@nats-io/jetstream';
import type { ConsumerMessages } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { partitionOf, RunCommit, type RunId } from '#proto';

const END = /^RUN_(?:COMPLETED|FAILED|CANCELLED)$/u;

/** A commit of RUNS with when it was stored, by the clock of the server, and when it was seen here. */
export interface SeenCommit {
  readonly commit: RunCommit;
  readonly partition: number;
  readonly by: string;
  /** Milliseconds since the epoch. */
  readonly storedAt: number;
  /** `performance.now()` of this process. */
  readonly seenAt: number;
}

interface Waiter {
  readonly passes: (seen: SeenCommit) => boolean;
  readonly resolve: (seen: SeenCommit) => void;
}

/** Follows the log of all runs as long as the test lasts, and keeps it. */
export class CommitWatch {
  readonly seen: SeenCommit[] = [];
  readonly #messages: ConsumerMessages;
  readonly #waiters = new Set<Waiter>();

  private constructor(messages: ConsumerMessages) {
    this.#messages = messages;
    void this.#follow();
  }

  static async start(nc: NatsConnection): Promise<CommitWatch> {
    const consumer = await jetstream(nc).consumers.get('RUNS', { opt_start_seq: 1 });
    return new CommitWatch(await consumer.consume());
  }

  /** The first commit that passes, of those seen already or to come. */
  first(passes: (seen: SeenCommit) => boolean): Promise<SeenCommit> {
    const found = this.seen.find(passes);
    if (found !== undefined) return Promise.resolve(found);
    return new Promise((resolve) => void this.#waiters.add({ passes, resolve }));
  }

  untilEnd(runId: RunId): Promise<SeenCommit> {
    return this.first(({ commit }) => commit.runId === runId && commit.events.some(({ type }) => END.test(type)));
  }

  /** Every run, with its commits in the order in which they are stored. */
  runs(): Map<RunId, SeenCommit[]> {
    return Map.groupBy(this.seen, ({ commit }) => commit.runId);
  }

  stop(): void {
    this.#messages.stop();
  }

  async #follow(): Promise<void> {
    for await (const message of this.#messages) {
      const commit = RunCommit.parse(message.json());
      const seen: SeenCommit = {
        commit,
        partition: partitionOf(commit.runId),
        by: commit.by.instance,
        storedAt: message.time.getTime(),
        seenAt: performance.now(),
      };
      this.seen.push(seen);
      for (const waiter of this.#waiters) {
        if (!waiter.passes(seen)) continue;
        this.#waiters.delete(waiter);
        waiter.resolve(seen);
      }
    }
  }
}

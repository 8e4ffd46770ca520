import type { DataSource, EntityManager } from 'typeorm';
import type { StreamEntry } from '#libs/event-log';
import type { Clock } from '#libs/platform';
import type { DeadLetters } from './dead-letter.adapter.js';
import { DeadLetterEntity } from '../entities/index.js';
import type { PreparedBatch, Projection } from './follow.projector.js';
import { upsertRows } from './write.adapter.js';

export interface RowsOptions {
  readonly clock: Clock;
  readonly deadLetters: DeadLetters;
}

/** A commit with the message it came in. */
export interface Read<C> {
  readonly entry: StreamEntry;
  readonly commit: C;
}

export interface RowsSpec<C> {
  readonly stream: Projection['stream'];
  /** The commit of a message, or why it is none. */
  readonly parse: (entry: StreamEntry) => C | string;
  /** The rows of a batch; nothing is read for it. */
  readonly write: (manager: EntityManager, read: readonly Read<C>[]) => Promise<void>;
}

/** A stream whose every commit says it all, so that no state is folded: commits become rows, and what is none is buried. */
export class RowsProjection<C extends object> implements Projection {
  readonly stream: Projection['stream'];
  readonly #spec: RowsSpec<C>;
  readonly #options: RowsOptions;
  /** Stream sequences that have their dead letter. */
  readonly #buried = new Set<number>();

  constructor(spec: RowsSpec<C>, options: RowsOptions) {
    this.stream = spec.stream;
    this.#spec = spec;
    this.#options = options;
  }

  async begin(source: DataSource): Promise<void> {
    const letters = await source.getRepository(DeadLetterEntity).findBy({ stream: this.stream });
    for (const { sequence } of letters) this.#buried.add(sequence);
  }

  async prepare(entries: readonly StreamEntry[], refused?: string): Promise<PreparedBatch> {
    const read: Read<C>[] = [];
    const bad: { entry: StreamEntry; reason: string }[] = [];
    for (const entry of entries) {
      const commit = refused ?? this.#spec.parse(entry);
      if (typeof commit === 'string') bad.push({ entry, reason: commit });
      else read.push({ entry, commit });
    }
    return {
      write: async (manager) => {
        await this.#spec.write(manager, read);
        for (const { entry, reason } of bad) await this.#bury(manager, entry, reason);
      },
      applied: () => undefined,
    };
  }

  /** Last of all, when nothing else can be refused. */
  async #bury(manager: EntityManager, entry: StreamEntry, reason: string): Promise<void> {
    const { stream } = this;
    const { sequence } = entry;
    const at = new Date(this.#options.clock.now()).toISOString();
    await upsertRows(manager, DeadLetterEntity, [{ stream, sequence, reason, at }]);
    if (!this.#buried.has(sequence)) await this.#options.deadLetters.bury(stream, entry, reason);
    this.#buried.add(sequence);
  }
}

import type { DataSource, EntityManager } from 'typeorm';
import type { StreamEntry } from '#libs/event-log';
import { Burials, type BurialParts } from './dead-letter.adapter.js';
import type { PreparedBatch, Projection } from './follow.projector.js';

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
  readonly #buried: Burials;

  constructor(spec: RowsSpec<C>, options: BurialParts) {
    this.stream = spec.stream;
    this.#spec = spec;
    this.#buried = new Burials(spec.stream, options);
  }

  begin(source: DataSource): Promise<void> {
    return this.#buried.begin(source);
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
        // Last of all, when nothing else can be refused.
        for (const { entry, reason } of bad) await this.#buried.add(manager, entry, reason);
      },
      applied: () => undefined,
    };
  }
}

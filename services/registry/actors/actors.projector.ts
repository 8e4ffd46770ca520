import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { ActorEntry, ActorId, BUCKETS } from '#proto';
import { entryOf, type Roster } from '#libs/actors';
import { Loop } from '#libs/platform';
import { DirtyKeys, KvRevisions } from '../projections/index.js';

/** The bucket ACTORS: one key per actor. */
export class KvActors extends KvRevisions<ActorEntry> {
  constructor(nc: NatsConnection) {
    super(nc, { bucket: BUCKETS.ACTORS.bucket, schema: ActorEntry });
  }
}

interface ActorsProjection {
  readonly store: Pick<KvActors, 'write' | 'remove' | 'list'>;
  readonly roster: Roster;
  readonly logger: Logger;
}

/** Keeps the bucket ACTORS at what the log says: services that take commands read nothing but that. */
export class ActorsProjector extends Loop {
  readonly #options: ActorsProjection;
  readonly #actors: DirtyKeys;

  constructor(options: ActorsProjection) {
    super();
    const { logger } = options;
    this.#options = options;
    this.#actors = new DirtyKeys({
      process: (actorId) => this.#project(actorId),
      failed: (error, actorId, failures) =>
        logger[failures === 1 ? 'warn' : 'debug']({ reason: String(error), actorId, failures }, 'actors: late'),
    });
  }

  following(log: { onChange(listener: (id: string) => void): void }): this {
    log.onChange((id) => this.#actors.mark(id));
    return this;
  }

  /** Resolves when the bucket says of these actors what the log said at this moment, or more; never when it is stopped. */
  async shows(actorIds: readonly ActorId[]): Promise<void> {
    await Promise.all(actorIds.map((actorId) => this.#actors.done(actorId)));
  }

  /** Begins with everybody in the log and in the bucket: the replica that recorded something may have died before it was shown. */
  async run(signal: AbortSignal): Promise<void> {
    const { roster, store, logger } = this.#options;
    const running = this.#actors.run(signal);
    for (const { actor } of roster.all()) this.#actors.mark(actor.id);
    const listed = await store.list().catch((error: unknown) => {
      if (!signal.aborted) logger.warn({ reason: String(error) }, 'actors: cannot look for leftovers');
      return [];
    });
    // Public keys, which version 0.1.0 has written, have other letters.
    for (const id of listed) if (ActorId.safeParse(id).success) this.#actors.mark(id);
    await running;
  }

  async #project(actorId: ActorId): Promise<void> {
    const { roster, store } = this.#options;
    const state = roster.get(actorId);
    if (state === undefined) return store.remove(actorId);
    await store.write(actorId, async () => entryOf(roster.get(actorId) ?? state));
  }
}

import { setTimeout as sleep } from 'node:timers/promises';
import { JetStreamApiCodes, JetStreamApiError, type ConsumerInfo, type JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { feedOf, isOutside, type Roster } from '#libs/actors';
import { durableProblem, managerOf, provisionDurable } from '#libs/messaging';
import { Loop } from '#libs/platform';
import { feedDurable, STREAMS, type ActorId } from '#proto';
import { DirtyKeys } from '../projections/index.js';

/** What somebody has changed is found, and mended, within two of these. */
const LOOK_MS = 3_000;
const FEED = STREAMS.FEED.name;

interface FeedDurablesPorts {
  readonly nc: NatsConnection;
  readonly roster: Roster;
  readonly logger: Logger;
  /** Between two looks, in milliseconds. */
  readonly lookMs?: number;
}

/**
 * The durables by which external systems follow FEED, as ACTORS says: one for each, for its share; none for who is revoked. The fact comes
 * first; what a registry has left undone is done at the next start of one.
 */
export class FeedDurables extends Loop {
  readonly #ports: FeedDurablesPorts;
  readonly #actors: DirtyKeys;
  #wrong: ReadonlyMap<ActorId, string> = new Map();
  #problem: string | undefined;

  constructor(ports: FeedDurablesPorts) {
    super();
    this.#ports = ports;
    this.#actors = new DirtyKeys({
      process: (actorId) => this.#make(actorId),
      failed: (error, actorId, failures) =>
        ports.logger[failures === 1 ? 'warn' : 'debug']({ reason: String(error), actorId, failures }, 'feed: late'),
    });
  }

  following(log: { onChange(listener: (id: string) => void): void }): this {
    log.onChange((id) => this.#actors.mark(id));
    return this;
  }

  /** The first durable that is not as it has to be and could not be mended, as of the last look. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Resolves when this actor has what follows from the facts of this moment; never when it is stopped. */
  follows(actorId: ActorId): Promise<void> {
    return this.#actors.done(actorId);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { roster, lookMs = LOOK_MS } = this.#ports;
    const running = this.#actors.run(signal);
    for (const { actor } of roster.all()) this.#actors.mark(actor.id);
    while (!signal.aborted) {
      await sleep(lookMs, undefined, { signal }).catch(() => undefined);
      // A server that is away says nothing about the durables.
      if (!signal.aborted) await this.#look().catch(() => undefined);
    }
    await running;
  }

  async #make(actorId: ActorId): Promise<void> {
    const { nc, roster, logger } = this.#ports;
    const state = roster.get(actorId);
    if (state === undefined || !isOutside(state)) return;
    const wanted = feedOf(state);
    if (wanted !== undefined) {
      const change = await provisionDurable(nc, wanted);
      if (change !== 'unchanged') logger.info({ actorId, durable: wanted.durable, change }, 'feed');
      return;
    }
    // Whose facts say that he has none; what belongs to somebody who is not known here yet stays.
    if (state.revokedAt !== null && (await removed(await managerOf(nc), feedDurable(actorId).durable))) {
      logger.info({ actorId }, 'feed: its durable is gone');
    }
  }

  /** What is wrong twice was not mended in between. */
  async #look(): Promise<void> {
    const found = new Map<string, ConsumerInfo>();
    for await (const info of (await managerOf(this.#ports.nc)).consumers.list(FEED)) found.set(info.name, info);
    const wrong = new Map<ActorId, string>();
    for (const state of this.#ports.roster.all()) {
      const wanted = feedOf(state);
      const problem = wanted && durableProblem(wanted, found.get(wanted.durable));
      if (problem !== undefined) wrong.set(state.actor.id, problem);
    }
    this.#problem = [...wrong].find(([actorId]) => this.#wrong.has(actorId))?.[1];
    this.#wrong = wrong;
    for (const actorId of wrong.keys()) this.#actors.mark(actorId);
  }
}

async function removed(jsm: JetStreamManager, durable: string): Promise<boolean> {
  try {
    return await jsm.consumers.delete(FEED, durable);
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === JetStreamApiCodes.ConsumerNotFound) return false;
    throw error;
  }
}

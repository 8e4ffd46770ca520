import { setTimeout as sleep } from 'node:timers/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { parseWith, RunCommit, parseJson } from '#proto';
import { readCommits, type StreamEntry } from '#libs/event-log';
import type { Clock, Postgres } from '#libs/platform';
import { batches, Follower, upsertRows } from '../projection/index.js';
import { CheckpointEntity } from '../entities/index.js';
import { feedEntriesOf, isAfter, type FeedEntry, type FeedPosition } from './feed-message.js';
import type { FeedStream } from './feed-stream.adapter.js';
import { Requesters } from './requesters.adapter.js';

const BATCH = { itemsMax: 200, bytesMax: 4 * 1024 * 1024 } as const;
/** Publishes in flight at once. */
const WINDOW = 64;
/** Another replica publishes, or an ack was lost: look where FEED ends after this. */
const STANDBY_MS = 500;
/** The position is stored at most this often; FEED's own last message is what counts. */
const STORE_EVERY_MS = 1_000;
const FEED = 'FEED';

export interface FeedOptions {
  readonly nc: NatsConnection;
  readonly feed: FeedStream;
  /** Only asked for the position when FEED is empty; its absence stops nothing. */
  readonly postgres: Postgres;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly onPublished: (events: number) => void;
}

/**
 * Publishes every event of RUNS into FEED, in order and once:
 *
 *   end of FEED ──► read RUNS behind its last event ──► publish, each expecting its predecessor ──► read on
 *        ▲                                                   │
 *        └────────────── wait ◄──── conflict, lost ack ◄─────┘
 *
 * Where to go on is read from FEED itself, so a crash at any line neither loses nor doubles nor reorders an event.
 */
export class FeedPublisher extends Follower {
  readonly #options: FeedOptions;
  /** Known of FEED as far as this replica wrote it itself. */
  #published: FeedPosition | undefined;
  #storedAt = 0;
  #storing: Promise<void> | undefined;
  readonly #requesters: Requesters;

  constructor(options: FeedOptions) {
    super('feed', options.logger);
    this.#options = options;
    this.#requesters = new Requesters(options.nc);
  }

  /** Ends with the position that is being stored. */
  override async end(): Promise<void> {
    await super.end();
    await this.#storing;
  }

  protected async follow(signal: AbortSignal): Promise<void> {
    while ((await this.#publish(signal)) === 'again');
  }

  protected pause(signal: AbortSignal): Promise<void> {
    return sleep(STANDBY_MS, undefined, { signal });
  }

  /** Returns when FEED has to be looked at again, or when stopped. */
  async #publish(signal: AbortSignal): Promise<'wait' | 'again'> {
    const { nc, feed } = this.#options;
    const found = await feed.end();
    let end = found.sequence;
    let last = found.position ?? this.#published ?? (await this.#positionOfEmptyFeed());
    this.goesOn();
    // Into an empty FEED replicas may come with different positions: one event decides, then FEED itself says it.
    const windowMax = found.position === undefined ? 1 : WINDOW;
    // The message of the last event may hold more events.
    const afterSequence = Math.max(0, last.sequence - 1);
    for await (const messages of batches(readCommits(nc, 'RUNS', { afterSequence, signal }), BATCH)) {
      const parsed: FeedEntry[] = [];
      for (const message of messages) parsed.push(...(await this.#parse(message)));
      const entries = parsed.filter((entry) => isAfter(entry.position, last));
      for (let start = 0; start < entries.length; start += windowMax) {
        if (signal.aborted) return 'wait';
        const window = entries.slice(start, start + windowMax);
        const { stored, problem } = await feed.publish(window, end);
        end += stored;
        last = window[stored - 1]?.position ?? last;
        this.#note(last, stored);
        if (problem !== undefined) return 'wait';
        if (found.position === undefined) return 'again';
      }
    }
    return 'wait';
  }

  /** A message that is no commit has nothing to publish; the projection puts it into the dead-letter queue. */
  async #parse({ data, sequence }: StreamEntry): Promise<FeedEntry[]> {
    const parsed = parseWith(RunCommit, parseJson(data));
    if (parsed.ok) return feedEntriesOf(parsed.value, sequence, await this.#requesters.of(parsed.value));
    this.#options.logger.error({ stream: 'RUNS', sequence }, 'not a commit: not published');
    return [];
  }

  async #positionOfEmptyFeed(): Promise<FeedPosition> {
    const { postgres, clock, feed, logger } = this.#options;
    try {
      if (postgres.isReady()) {
        const source = await postgres.ready();
        const stored = await source.getRepository(CheckpointEntity).findOneBy({ name: FEED });
        if (stored !== null) return { sequence: stored.sequence, index: stored.index };
      }
    } catch (error) {
      logger.warn({ reason: String(error) }, 'feed: the stored position cannot be read');
    }
    return feed.beforeYoungest(clock.now());
  }

  #note(position: FeedPosition, events: number): void {
    if (events === 0) return;
    this.#published = position;
    this.#options.onPublished(events);
    const now = this.#options.clock.now();
    if (this.#storing !== undefined || now - this.#storedAt < STORE_EVERY_MS || !this.#options.postgres.isReady())
      return;
    this.#storedAt = now;
    this.#storing = this.#store(position)
      .catch((error: unknown) => this.#options.logger.debug({ reason: String(error) }, 'feed: position not stored'))
      .finally(() => (this.#storing = undefined));
  }

  async #store(position: FeedPosition): Promise<void> {
    const { manager } = await this.#options.postgres.ready();
    await upsertRows(manager, CheckpointEntity, [{ name: FEED, ...position }]);
  }
}

import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import type { Clock, HealthIndicators, Metrics, Postgres } from '#libs/platform';
import { untilItWorks } from '#libs/platform';
import type { Served } from '#libs/messaging';
import {
  attemptsProjection,
  DeadLetters,
  StreamFollower,
  type AppliedBatch,
  plansProjection,
  ProjectionReader,
  forgetProjection,
  RunsProjection,
} from './projection/index.js';
import { FeedStream, FeedPublisher } from './feed/index.js';
import type { LoggingConfig } from './logging.config.js';
import { serveLogging } from './endpoint/index.js';
import { ReportWriter } from './reports/index.js';

export interface LoggingOptions {
  readonly nc: NatsConnection;
  readonly postgres: Postgres;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly health: HealthIndicators;
  readonly config: LoggingConfig;
}

/** The loops of the service: three projections, the reports that follow from them, FEED beside them, and the queries. */
export class LoggingService {
  readonly #options: LoggingOptions;
  readonly #followers: readonly StreamFollower[];
  readonly #feed: FeedPublisher;
  readonly #reports: ReportWriter;
  readonly #reader: ProjectionReader;
  readonly #stopping = new AbortController();
  #served: Served | undefined;
  #starting: Promise<void> | undefined;

  constructor(options: LoggingOptions) {
    this.#options = options;
    const { nc, postgres, clock, logger, metrics, health } = options;
    const commits = metrics.counter('logging_commits_total', 'commits projected', ['stream']);
    const lag = metrics.gauge('logging_lag_messages', 'messages not projected yet', ['stream']);
    const events = metrics.counter('logging_feed_events_total', 'events published to FEED');
    const onApplied = (stream: string, applied: AppliedBatch) => {
      commits.inc({ stream }, applied.commits);
      lag.set({ stream }, applied.pending);
      this.#reports.notice();
    };
    const deadLetters = new DeadLetters(nc, clock);
    this.#reader = new ProjectionReader(postgres);
    this.#reports = new ReportWriter({ nc, postgres, reader: this.#reader, logger });
    this.#followers = [
      new RunsProjection({ nc, clock, deadLetters }),
      attemptsProjection({ clock, deadLetters }),
      plansProjection({ clock, deadLetters }),
    ].map((projection) => {
      const follower = new StreamFollower(projection, { nc, postgres, logger, onApplied });
      health.register(`projection of ${projection.stream}`, () => follower.check());
      return follower;
    });
    const onPublished = (count: number) => events.inc(count);
    this.#feed = new FeedPublisher({ nc, feed: new FeedStream(nc), postgres, clock, logger, onPublished });
    health.register('feed', () => this.#feed.check());
  }

  async onApplicationBootstrap(): Promise<void> {
    const { nc, logger } = this.#options;
    this.#served = await serveLogging({ nc, reader: this.#reader, reports: this.#reports, logger });
    this.#feed.start();
    this.#starting = this.#startProjections().catch((error: unknown) => {
      if (!this.#stopping.signal.aborted) throw error;
    });
  }

  /** Takes nothing new, then ends what is under way; the second call finds nothing to do. */
  async onModuleDestroy(): Promise<void> {
    this.#stopping.abort();
    await this.#served?.stop();
    this.#served = undefined;
    await this.#starting;
    await Promise.all([...this.#followers, this.#feed, this.#reports].map((loop) => loop.stop()));
  }

  async #startProjections(): Promise<void> {
    const { postgres, config, logger } = this.#options;
    const { signal } = this.#stopping;
    if (config.rebuild) {
      await untilItWorks(async () => forgetProjection(await postgres.ready()), { what: 'rebuild', logger, signal });
      logger.info('projection emptied: replaying the streams');
    }
    if (signal.aborted) return;
    for (const follower of this.#followers) follower.start();
    this.#reports.start();
  }
}

import { Module, type FactoryProvider } from '@nestjs/common';
import type { NatsConnection } from '@nats-io/transport-node';
import {
  CLOCK,
  HealthIndicators,
  INSTANCE,
  knowsActors,
  loadConfig,
  LOGGER,
  Metrics,
  NATS,
  part,
  POSTGRES,
  token,
  type Clock,
  type Postgres,
} from '#libs/platform';
import { openAttentionLog, type AttentionLog } from '#libs/event-log';
import {
  AttentionHandler,
  AttentionLooks,
  AttentionReader,
  backfilled,
  comingsProjection,
  wordsProjection,
} from './attention/index.js';
import { AttentionQueries, LoggingQueries } from './endpoint/index.js';
import { FeedPublisher, FeedStream } from './feed/index.js';
import { Figures } from './figures/index.js';
import { LoggingConfig } from './logging.config.js';
import {
  attemptsProjection,
  DeadLetters,
  emptied,
  plansProjection,
  projectionName,
  ProjectionReader,
  RunsProjection,
  StreamFollower,
  type Projection,
} from './projection/index.js';
import { ReportWriter } from './reports/index.js';
import { SearchProjection, SearchReader } from './search/index.js';
import { StatisticsProjection, StatisticsReader } from './statistics/index.js';

export const LOGGING_CONFIG = token<LoggingConfig>('LOGGING_CONFIG');
/** The database as those who write into it wait for it: emptied, if that is asked for. */
const PROJECTED = token<Pick<Postgres, 'ready'>>('PROJECTED');

const ATTENTION = token<AttentionLog>('ATTENTION');

/**
 * One replica of the logging service.
 *
 *   RUNS, ATTEMPTS, PLANS ──► StreamFollower, one for each table ──► Postgres ──► ProjectionReader ──► queries
 *     and FLEET, ATTENTION         └──notice──► ReportWriter ──┘   └──► AttentionReader, SearchReader, StatisticsReader ──► queries
 *   DLQ, consumers ──► AttentionLooks ─────────────────────────┘
 *   attention-take, -settle ──► AttentionHandler: load, decide, append ──► ATTENTION
 *   RUNS ──► FeedPublisher ──► FEED
 */
@Module({
  controllers: [AttentionQueries, LoggingQueries],
  providers: [
    part(LOGGING_CONFIG, [], () => loadConfig(LoggingConfig)),
    part(PROJECTED, [POSTGRES, LOGGING_CONFIG, LOGGER], (postgres, { rebuild }, logger) =>
      backfilled(rebuild ? emptied(postgres, logger) : postgres, logger),
    ),
    knowsActors(),
    part(ProjectionReader, [POSTGRES], (postgres) => new ProjectionReader(postgres)),
    part(
      ReportWriter,
      [NATS, PROJECTED, ProjectionReader, LOGGER],
      (nc, postgres, reader, logger) => new ReportWriter({ nc, postgres, reader, logger }),
    ),
    part(DeadLetters, [NATS, CLOCK], (nc, clock) => new DeadLetters(nc, clock)),
    part(Figures, { nc: NATS, postgres: POSTGRES, clock: CLOCK, metrics: Metrics }, (parts) => new Figures(parts)),
    follower((nc, clock, deadLetters) => new RunsProjection({ nc, clock, deadLetters })),
    follower((_, clock, deadLetters) => attemptsProjection({ clock, deadLetters })),
    follower((_, clock, deadLetters) => plansProjection({ clock, deadLetters })),
    follower((_, clock, deadLetters) => comingsProjection({ clock, deadLetters })),
    follower((_, clock, deadLetters) => wordsProjection({ clock, deadLetters })),
    part(ATTENTION, [NATS], openAttentionLog),
    part(AttentionReader, [POSTGRES, CLOCK], (postgres, clock) => new AttentionReader(postgres, clock)),
    part(
      AttentionLooks,
      [NATS, POSTGRES, CLOCK, LOGGER],
      (nc, postgres, clock, logger) => new AttentionLooks({ nc, postgres, clock, logger }),
    ),
    part(
      AttentionHandler,
      [ATTENTION, AttentionReader, CLOCK, INSTANCE, LOGGER],
      (log, reader, clock, instance, logger) =>
        new AttentionHandler({ log, find: (id) => reader.find(id), clock, instance, logger }),
    ),
    follower((nc, clock, deadLetters) => new SearchProjection({ nc, clock, deadLetters })),
    part(SearchReader, [NATS, POSTGRES, CLOCK], (nc, postgres, clock) => new SearchReader({ nc, postgres, clock })),
    follower((nc, clock, deadLetters) => new StatisticsProjection({ nc, clock, deadLetters })),
    part(StatisticsReader, [NATS, POSTGRES], (nc, postgres) => new StatisticsReader({ nc, postgres })),
    part(
      FeedPublisher,
      [NATS, POSTGRES, CLOCK, LOGGER, Metrics, HealthIndicators],
      (nc, postgres, clock, logger, metrics, health) => {
        const events = metrics.counter('logging_feed_events_total', 'events published to FEED');
        const onPublished = (count: number) => events.inc(count);
        const feed = new FeedPublisher({ nc, feed: new FeedStream(nc), postgres, clock, logger, onPublished });
        health.register('feed', () => feed.check());
        return feed;
      },
    ),
  ],
})
export class LoggingModule {}

function follower(
  projectionOf: (nc: NatsConnection, clock: Clock, deadLetters: DeadLetters) => Projection,
): FactoryProvider<StreamFollower> {
  return part(
    token<StreamFollower>('FOLLOWER'),
    [NATS, PROJECTED, CLOCK, DeadLetters, ReportWriter, LOGGER, Metrics, HealthIndicators],
    (nc, postgres, clock, deadLetters, reports, logger, metrics, health) => {
      const commits = metrics.counter('logging_commits_total', 'commits projected', ['stream']);
      const projection = projectionOf(nc, clock, deadLetters);
      const made = new StreamFollower(projection, {
        nc,
        postgres,
        logger,
        onApplied: (stream, applied) => {
          commits.inc({ stream }, applied.commits);
          reports.notice();
        },
      });
      health.register(`projection of ${projectionName(projection)}`, () => made.check());
      return made;
    },
  );
}

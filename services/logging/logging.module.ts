import { Module, type FactoryProvider } from '@nestjs/common';
import type { NatsConnection } from '@nats-io/transport-node';
import {
  CLOCK,
  HealthIndicators,
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
import { LoggingQueries } from './endpoint/index.js';
import { FeedPublisher, FeedStream } from './feed/index.js';
import { LoggingConfig } from './logging.config.js';
import {
  attemptsProjection,
  DeadLetters,
  emptied,
  plansProjection,
  ProjectionReader,
  RunsProjection,
  StreamFollower,
  type Projection,
} from './projection/index.js';
import { ReportWriter } from './reports/index.js';

export const LOGGING_CONFIG = token<LoggingConfig>('LOGGING_CONFIG');
/** The database as those who write into it wait for it: emptied, if that is asked for. */
const PROJECTED = token<Pick<Postgres, 'ready'>>('PROJECTED');

/**
 * One replica of the logging service.
 *
 *   RUNS, ATTEMPTS, PLANS ──► StreamFollower, one each ──► Postgres ──► ProjectionReader ──► queries
 *                                  └──notice──► ReportWriter ──┘
 *   RUNS ──► FeedPublisher ──► FEED
 */
@Module({
  controllers: [LoggingQueries],
  providers: [
    part(LOGGING_CONFIG, [], () => loadConfig(LoggingConfig)),
    part(PROJECTED, [POSTGRES, LOGGING_CONFIG, LOGGER], (postgres, { rebuild }, logger) =>
      rebuild ? emptied(postgres, logger) : postgres,
    ),
    knowsActors(),
    part(ProjectionReader, [POSTGRES], (postgres) => new ProjectionReader(postgres)),
    part(
      ReportWriter,
      [NATS, PROJECTED, ProjectionReader, LOGGER],
      (nc, postgres, reader, logger) => new ReportWriter({ nc, postgres, reader, logger }),
    ),
    part(DeadLetters, [NATS, CLOCK], (nc, clock) => new DeadLetters(nc, clock)),
    follower((nc, clock, deadLetters) => new RunsProjection({ nc, clock, deadLetters })),
    follower((_, clock, deadLetters) => attemptsProjection({ clock, deadLetters })),
    follower((_, clock, deadLetters) => plansProjection({ clock, deadLetters })),
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
      const lag = metrics.gauge('logging_lag_messages', 'messages not projected yet', ['stream']);
      const projection = projectionOf(nc, clock, deadLetters);
      const made = new StreamFollower(projection, {
        nc,
        postgres,
        logger,
        onApplied: (stream, applied) => {
          commits.inc({ stream }, applied.commits);
          lag.set({ stream }, applied.pending);
          reports.notice();
        },
      });
      health.register(`projection of ${projection.stream}`, () => made.check());
      return made;
    },
  );
}

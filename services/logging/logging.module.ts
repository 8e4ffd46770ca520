import { Module } from '@nestjs/common';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import {
  CLOCK,
  HealthIndicators,
  loadConfig,
  LOGGER,
  Metrics,
  NATS,
  PlatformModule,
  POSTGRES,
  postgresModule,
  type Clock,
  type Postgres,
} from '#libs/platform';
import { ENTITIES, SCHEMA } from './entities/index.js';
import { LoggingConfig } from './logging.config.js';
import { LoggingService } from './logging.runner.js';

@Module({
  imports: [PlatformModule.forService('logging'), postgresModule(ENTITIES, SCHEMA, { service: 'logging' })],
  providers: [
    {
      provide: LoggingService,
      inject: [NATS, POSTGRES, CLOCK, LOGGER, Metrics, HealthIndicators],
      useFactory: (
        nc: NatsConnection,
        postgres: Postgres,
        clock: Clock,
        logger: Logger,
        metrics: Metrics,
        health: HealthIndicators,
      ) => new LoggingService({ nc, postgres, clock, logger, metrics, health, config: loadConfig(LoggingConfig) }),
    },
  ],
})
export class LoggingModule {}

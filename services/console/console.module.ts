import { Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { readSecret } from '#libs/keys';
import { CLOCK, LOGGER, NATS, PlatformModule, SERVICE_CONFIG, type Clock, type ServiceConfig } from '#libs/platform';
import { ApprovalsController, ControlController, RequestsController, RunVerbs, RunsController } from './runs/index.js';
import { OpenApiController } from './openapi/index.js';
import { OutputController, RunEvents, RunOutput } from './streams/index.js';
import { RefusalsFilter } from './http/index.js';

/**
 * The service for people's own programs: requests, runs and verbs over HTTP, with live streams. It asks the bus and passes on what it
 * hears; nothing is decided or stored here.
 */
@Module({
  imports: [PlatformModule.forService('console')],
  controllers: [
    RequestsController,
    RunsController,
    OutputController,
    ControlController,
    ApprovalsController,
    OpenApiController,
  ],
  providers: [
    { provide: RunEvents, inject: [NATS], useFactory: (nc: NatsConnection) => new RunEvents({ nc }) },
    { provide: RunOutput, inject: [NATS], useFactory: (nc: NatsConnection) => new RunOutput({ nc }) },
    {
      provide: RunVerbs,
      inject: [NATS, SERVICE_CONFIG, CLOCK],
      useFactory: async (nc: NatsConnection, { nats: { seedFile } }: ServiceConfig, clock: Clock) =>
        new RunVerbs({ nc, clock, seed: seedFile === undefined ? undefined : await readSecret(seedFile) }),
    },
    { provide: APP_FILTER, inject: [LOGGER], useFactory: (logger: Logger) => new RefusalsFilter(logger) },
  ],
})
export class ConsoleModule {}

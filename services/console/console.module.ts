import { Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { LOGGER, NATS, PlatformModule } from '#libs/platform';
import { OpenApiController } from './openapi.controller.js';
import { RefusalsFilter } from './refusals.filter.js';
import { RequestsController } from './requests.controller.js';
import { RunEvents } from './run-events.gateway.js';
import { RunsController } from './runs.controller.js';

@Module({
  imports: [PlatformModule.forService('console')],
  controllers: [RequestsController, RunsController, OpenApiController],
  providers: [
    { provide: RunEvents, inject: [NATS], useFactory: (nc: NatsConnection) => new RunEvents({ nc }) },
    { provide: APP_FILTER, inject: [LOGGER], useFactory: (logger: Logger) => new RefusalsFilter(logger) },
  ],
})
export class ConsoleModule {}

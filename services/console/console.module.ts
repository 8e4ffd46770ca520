import { Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { readSecret } from '#libs/keys';
import { CLOCK, LOGGER, NATS, PlatformModule, SERVICE_CONFIG, type Clock, type ServiceConfig } from '#libs/platform';
import { ApprovalsController } from './approvals.controller.js';
import { ControlController } from './control.controller.js';
import { OpenApiController } from './openapi.controller.js';
import { OutputController } from './output.controller.js';
import { RefusalsFilter } from './refusals.filter.js';
import { RequestsController } from './requests.controller.js';
import { RunEvents } from './run-events.gateway.js';
import { RunOutput } from './run-output.gateway.js';
import { RunVerbs } from './run-verbs.client.js';
import { RunsController } from './runs.controller.js';

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

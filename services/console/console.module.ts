import { Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import type { Logger } from 'pino';
import { readSecret } from '#libs/keys';
import { CLOCK, LOGGER, NATS, part, PlatformModule, SERVICE_CONFIG } from '#libs/platform';
import { ApprovalsController, ControlController, RequestsController, RunVerbs, RunsController } from './runs/index.js';
import { OpenApiController } from './openapi/index.js';
import { OutputController, RunEvents, RunOutput } from './streams/index.js';
import { Admission, ADMISSION_LIMITS, OpenAnswers, RefusalsFilter } from './http/index.js';

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
    part(OpenAnswers, [], () => new OpenAnswers(ADMISSION_LIMITS.waitingBytesMax)),
    part(Admission, [OpenAnswers], (answers) => new Admission(answers)),
    part(RunEvents, { nc: NATS, answers: OpenAnswers }, (parts) => new RunEvents(parts)),
    part(RunOutput, { nc: NATS, answers: OpenAnswers }, (parts) => new RunOutput(parts)),
    part(RunVerbs, { nc: NATS, clock: CLOCK, config: SERVICE_CONFIG }, async ({ config: { nats }, ...parts }) => {
      const seed = nats.seedFile === undefined ? undefined : await readSecret(nats.seedFile);
      return new RunVerbs({ ...parts, seed });
    }),
    { provide: APP_FILTER, inject: [LOGGER], useFactory: (logger: Logger) => new RefusalsFilter(logger) },
  ],
})
export class ConsoleModule {}

import { Controller, Get, Header, Headers, Inject, Param, Query, Res } from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import type { NatsConnection } from '@nats-io/transport-node';
import { QUERIES, RunId, type RunSummary, type RunView } from '#proto';
import { query } from '#libs/messaging';
import { NATS } from '#libs/platform';
import { Needs, valid } from '../http/index.js';
import { RunEvents } from '../streams/index.js';

@Controller('v1/runs')
export class RunsController {
  readonly #nc: NatsConnection;
  readonly #events: RunEvents;

  constructor(@Inject(NATS) nc: NatsConnection, @Inject(RunEvents) events: RunEvents) {
    this.#nc = nc;
    this.#events = events;
  }

  @Get()
  @Needs('logging.runs')
  async list(@Query('limit') limit: string | undefined): Promise<{ runs: RunSummary[] }> {
    const asked = limit === undefined ? {} : { limit: Number(limit) };
    return query(this.#nc, 'logging', 'runs', valid(QUERIES.logging.runs.request, asked));
  }

  @Get(':id')
  @Needs('logging.run')
  async show(@Param('id') id: string): Promise<RunView> {
    return (await query(this.#nc, 'logging', 'run', { runId: valid(RunId, id) })).run;
  }

  @Get(':id/report.md')
  @Needs('logging.report')
  @Header('Content-Type', 'text/markdown; charset=utf-8')
  async report(@Param('id') id: string): Promise<string> {
    return (await query(this.#nc, 'logging', 'report', { runId: valid(RunId, id) })).markdown;
  }

  @Get(':id/events')
  @Needs('WATCH')
  async events(
    @Param('id') id: string,
    @Headers('last-event-id') lastEventId: string | undefined,
    @Res() response: ServerResponse,
  ): Promise<void> {
    await this.#events.serve({ runId: valid(RunId, id), lastEventId }, response);
  }
}

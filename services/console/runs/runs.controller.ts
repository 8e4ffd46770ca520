import { Controller, Get, Header, Headers, Inject, Param, Query, Req, Res } from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import { QUERIES, RunId, type RunSummary, type RunView } from '#proto';
import { callerOf, type CalledRequest, Needs, valid } from '../http/index.js';
import { RunEvents } from '../streams/index.js';
import { RunVerbs } from './run-verbs.client.js';

@Controller('v1/runs')
export class RunsController {
  readonly #verbs: RunVerbs;
  readonly #events: RunEvents;

  constructor(@Inject(RunVerbs) verbs: RunVerbs, @Inject(RunEvents) events: RunEvents) {
    this.#verbs = verbs;
    this.#events = events;
  }

  @Get()
  @Needs('logging.runs')
  async list(
    @Req() request: CalledRequest,
    @Query('limit') limit: string | undefined,
  ): Promise<{ runs: RunSummary[] }> {
    const asked = limit === undefined ? {} : { limit: Number(limit) };
    return this.#verbs.ask('runs', valid(QUERIES.logging.runs.request, asked), callerOf(request));
  }

  @Get(':id')
  @Needs('logging.run')
  async show(@Req() request: CalledRequest, @Param('id') id: string): Promise<RunView> {
    return (await this.#verbs.ask('run', { runId: valid(RunId, id) }, callerOf(request))).run;
  }

  @Get(':id/report.md')
  @Needs('logging.report')
  @Header('Content-Type', 'text/markdown; charset=utf-8')
  async report(@Req() request: CalledRequest, @Param('id') id: string): Promise<string> {
    return (await this.#verbs.ask('report', { runId: valid(RunId, id) }, callerOf(request))).markdown;
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

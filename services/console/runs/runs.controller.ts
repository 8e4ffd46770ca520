import { Controller, Get, Header, Headers, Inject, Param, Query, Req, Res } from '@nestjs/common';
import type { NatsConnection } from '@nats-io/transport-node';
import type { ServerResponse } from 'node:http';
import { NATS } from '#libs/platform';
import {
  QUERIES,
  RunId,
  type RunBoard,
  type RunConversation,
  type RunSummary,
  type RunView,
  type ShownEntry,
} from '#proto';
import {
  callerOf,
  type CalledRequest,
  listIn,
  Needs,
  numberIn,
  RefusedError,
  type SaidInAddress,
  valid,
} from '../http/index.js';
import { RunEvents, storedBoard, storedConversation } from '../streams/index.js';
import { RunVerbs } from './run-verbs.client.js';

@Controller('v1/runs')
export class RunsController {
  readonly #verbs: RunVerbs;
  readonly #events: RunEvents;
  readonly #nc: NatsConnection;

  constructor(
    @Inject(RunVerbs) verbs: RunVerbs,
    @Inject(RunEvents) events: RunEvents,
    @Inject(NATS) nc: NatsConnection,
  ) {
    this.#verbs = verbs;
    this.#events = events;
    this.#nc = nc;
  }

  @Get()
  @Needs('logging.runs')
  async list(
    @Req() request: CalledRequest,
    @Query() said: SaidInAddress,
    @Res({ passthrough: true }) response: ServerResponse,
  ): Promise<{ runs: RunSummary[] }> {
    const { limit, status, label, ...more } = said;
    const lists = { ...listIn('status', status, (word) => word.toUpperCase()), ...listIn('label', label) };
    const asked = { ...more, ...numberIn('limit', limit), ...lists };
    const page = await this.#verbs.ask('runs', valid(QUERIES.logging.runs.request, asked), callerOf(request));
    const last = page.runs.at(-1);
    if (page.more && last !== undefined)
      response.setHeader('Link', `<${nextPage(request.url, last.runId)}>; rel="next"`);
    return page;
  }

  @Get(':id')
  @Needs('logging.run')
  async show(@Req() request: CalledRequest, @Param('id') id: string): Promise<RunView> {
    return (await this.#verbs.ask('run', { runId: valid(RunId, id) }, callerOf(request))).run;
  }

  @Get(':id/conversation')
  @Needs('logging.run')
  async conversation(@Param('id') id: string): Promise<RunConversation> {
    const runId = valid(RunId, id);
    return { runId, conversation: await storedConversation(this.#nc, runId) };
  }

  @Get(':id/board')
  @Needs('logging.run')
  async board(@Param('id') id: string): Promise<RunBoard> {
    return storedBoard(this.#nc, valid(RunId, id));
  }

  @Get(':id/board/:name')
  @Needs('logging.run')
  async entry(@Param('id') id: string, @Param('name') name: string): Promise<ShownEntry> {
    const { entries } = await storedBoard(this.#nc, valid(RunId, id));
    const found = entries.find((entry) => entry.name === name);
    if (found !== undefined) return found;
    throw new RefusedError({ code: 'NOT_FOUND', message: `Nothing stands under this name on the board of run ${id}.` });
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

/** The same list, of what is older than a run (RFC 8288). */
function nextPage(address = '', before: RunId): string {
  const [path = '', query = ''] = address.split('?', 2);
  const said = new URLSearchParams(query);
  said.set('before', before);
  return `${path}?${said.toString()}`;
}

import { Controller, Get, Headers, HttpCode, Inject, Param, Post, Query, Req, Res } from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import { z } from 'zod';
import type { QueryAnswer } from '#libs/messaging';
import { AttentionId, QUERIES, SettleReason, type AttentionWord } from '#proto';
import {
  callerOf,
  type CalledRequest,
  flagIn,
  jsonObject,
  listIn,
  Needs,
  numberIn,
  type SaidInAddress,
  valid,
} from '../http/index.js';
import { RunVerbs } from './run-verbs.client.js';

/** Why an entry is settled. */
export const Settlement = z.strictObject({ reason: SettleReason });

/** What needs somebody, and the word of a person about it. */
@Controller('v1/attention')
export class AttentionController {
  readonly #verbs: RunVerbs;

  constructor(@Inject(RunVerbs) verbs: RunVerbs) {
    this.#verbs = verbs;
  }

  @Get()
  @Needs('logging.attention')
  list(@Req() request: CalledRequest, @Query() said: SaidInAddress): Promise<QueryAnswer<'logging', 'attention'>> {
    const { limit, kind, all, run, device, ...more } = said;
    const asked = {
      ...more,
      ...(run !== undefined && { runId: run }),
      ...(device !== undefined && { deviceId: device }),
      ...numberIn('limit', limit),
      ...listIn('kind', kind),
      ...flagIn('all', all),
    };
    return this.#verbs.ask('attention', valid(QUERIES.logging.attention.request, asked), callerOf(request));
  }

  @Post(':id/take')
  @Needs('logging.attention-take')
  @HttpCode(200)
  take(
    @Req() request: CalledRequest,
    @Headers('idempotency-key') key: string | undefined,
    @Param('id') entry: string,
    @Res({ passthrough: true }) response: ServerResponse,
  ): Promise<AttentionWord> {
    const said = this.#said(entry, key, response);
    return this.#verbs.ask('attention-take', said, callerOf(request));
  }

  @Post(':id/settle')
  @Needs('logging.attention-settle')
  @HttpCode(200)
  settle(
    @Req() request: CalledRequest,
    @Headers('idempotency-key') key: string | undefined,
    @Param('id') entry: string,
    @Res({ passthrough: true }) response: ServerResponse,
  ): Promise<AttentionWord> {
    const { reason } = valid(Settlement, jsonObject(request.body));
    const said = { ...this.#said(entry, key, response), reason };
    return this.#verbs.ask('attention-settle', said, callerOf(request));
  }

  /** The id of the command is told in any case: with it the same may be sent again. */
  #said(entry: string, key: string | undefined, response: ServerResponse): { id: string; attentionId: AttentionId } {
    const attentionId = valid(AttentionId, entry);
    const id = this.#verbs.idOf(key);
    response.setHeader('Idempotency-Key', id);
    return { id, attentionId };
  }
}

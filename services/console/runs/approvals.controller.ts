import { Controller, Get, Headers, HttpCode, Inject, Post, Query, Req, Res } from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import { attemptOfCommand, QUERIES, type ApprovalView, type RunVerb } from '#proto';
import { ApprovalWord, VERB_OF } from './approval-word.js';
import {
  callerOf,
  type CalledRequest,
  jsonObject,
  Needs,
  numberIn,
  RefusedError,
  type SaidInAddress,
  valid,
} from '../http/index.js';
import { RunVerbs, type VerbResult } from './run-verbs.client.js';

/** What agents wait for, and the word of a person about it. */
@Controller('v1/approvals')
export class ApprovalsController {
  readonly #verbs: RunVerbs;

  constructor(@Inject(RunVerbs) verbs: RunVerbs) {
    this.#verbs = verbs;
  }

  @Get()
  @Needs('logging.approvals')
  async list(
    @Req() request: CalledRequest,
    @Query() { limit, ...said }: SaidInAddress,
  ): Promise<{ approvals: ApprovalView[] }> {
    const asked = { ...said, ...numberIn('limit', limit) };
    return this.#verbs.ask('approvals', valid(QUERIES.logging.approvals.request, asked), callerOf(request));
  }

  @Post()
  @Needs('said')
  @HttpCode(200)
  async decide(
    @Req() request: CalledRequest,
    @Headers('idempotency-key') key: string | undefined,
    @Res({ passthrough: true }) response: ServerResponse,
  ): Promise<VerbResult> {
    const { decision, ...fields } = valid(ApprovalWord, jsonObject(request.body));
    const runId = attemptOfCommand(fields.approvalId)?.runId;
    if (runId === undefined) {
      const issues = [{ path: 'approvalId', message: 'must be <run>.<task>.<attempt>.<step>.<index>' }];
      throw new RefusedError({ code: 'INVALID_REQUEST', message: `approvalId: ${issues[0]?.message}`, issues });
    }
    const id = this.#verbs.idOf(key);
    response.setHeader('Idempotency-Key', id);
    return this.#verbs.send({ runId, verb: verbOf(decision), fields, id, caller: callerOf(request) });
  }
}

function verbOf(decision: string): RunVerb {
  const verb = VERB_OF.get(decision);
  if (verb !== undefined) return verb;
  throw new Error(`no verb is said with the decision ${decision}`);
}

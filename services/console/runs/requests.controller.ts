import { Controller, Headers, HttpCode, Inject, Post, Req, Res } from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import type { RequestId, RunId } from '#proto';
import { callerOf, jsonObject, Needs, type CalledRequest } from '../http/index.js';
import { RunVerbs } from './run-verbs.client.js';

@Controller('v1/requests')
export class RequestsController {
  readonly #verbs: Pick<RunVerbs, 'submit'>;

  constructor(@Inject(RunVerbs) verbs: Pick<RunVerbs, 'submit'>) {
    this.#verbs = verbs;
  }

  @Post()
  @Needs('SUBMIT')
  @HttpCode(202)
  async submit(
    @Req() request: CalledRequest,
    @Headers('idempotency-key') key: string | undefined,
    @Res({ passthrough: true }) response: ServerResponse,
  ): Promise<{ readonly runId: RunId; readonly requestId: RequestId }> {
    const { body } = request;
    const bytes = body instanceof Uint8Array ? body : new Uint8Array();
    const { runId, requestId } = await this.#verbs.submit(withRequestId(bytes, key), callerOf(request));
    response.setHeader('Location', `/v1/runs/${runId}`);
    return { runId, requestId };
  }
}

/** A request as it came, with the idempotency key as its id when it has none of its own. */
function withRequestId(body: Uint8Array, idempotencyKey: string | undefined): Uint8Array | string {
  const json = jsonObject(body);
  if ('requestId' in json || idempotencyKey === undefined) return body;
  return JSON.stringify({ ...json, requestId: idempotencyKey });
}

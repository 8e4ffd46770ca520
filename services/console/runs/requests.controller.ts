import { Controller, Headers, HttpCode, Inject, Post, Req, Res } from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import type { NatsConnection } from '@nats-io/transport-node';
import { NATS } from '#libs/platform';
import { submitRequest } from '#libs/messaging';
import type { RequestId, RunId } from '#proto';
import { jsonObject, RefusedError, type BodyRequest } from '../http/index.js';

const WHY = {
  nobody: 'The orchestrator is not running. Send the same request id again.',
  silence: 'The orchestrator did not answer in time. Send the same request id again.',
  nonsense: 'The orchestrator gave no valid answer.',
  'try-again': 'It is not known yet whether the request was accepted. Send the same request id again.',
};

@Controller('v1/requests')
export class RequestsController {
  readonly #nc: NatsConnection;

  constructor(@Inject(NATS) nc: NatsConnection) {
    this.#nc = nc;
  }

  @Post()
  @HttpCode(202)
  async submit(
    @Req() { body }: BodyRequest,
    @Headers('idempotency-key') key: string | undefined,
    @Res({ passthrough: true }) response: ServerResponse,
  ): Promise<{ readonly runId: RunId; readonly requestId: RequestId }> {
    const bytes = body instanceof Uint8Array ? body : new Uint8Array();
    const outcome = await submitRequest(this.#nc, withRequestId(bytes, key));
    if (outcome.answer === 'rejected') throw new RefusedError(outcome.reason);
    if (outcome.answer === 'unknown') {
      throw new RefusedError(outcome.reason ?? { code: 'TRY_AGAIN', message: WHY[outcome.met] });
    }
    const { runId, requestId } = outcome;
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

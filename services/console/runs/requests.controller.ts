import { Controller, Headers, HttpCode, Inject, Post, Req, Res } from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import type { NatsConnection } from '@nats-io/transport-node';
import { NATS } from '#libs/platform';
import type { BodyRequest } from '../http/index.js';
import { submit, withRequestId, type Accepted } from './submit.client.js';

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
  ): Promise<Accepted> {
    const bytes = body instanceof Uint8Array ? body : new Uint8Array();
    const accepted = await submit(this.#nc, withRequestId(bytes, key));
    response.setHeader('Location', `/v1/runs/${accepted.runId}`);
    return accepted;
  }
}

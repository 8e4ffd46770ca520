import { Controller, createParamDecorator, HttpCode, Inject, Param, Post, type ExecutionContext } from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import { RunId, type RunVerb } from '#proto';
import { type BodyRequest, jsonObject, optionalJsonObject, valid, RefusedError } from '../http/index.js';
import { RunVerbs, type VerbResult } from './run-verbs.client.js';

/** A request about a run, as it came, and where it is answered. */
interface Call {
  readonly request: BodyRequest & { readonly params: Readonly<Record<string, string>> };
  readonly response: ServerResponse;
}

const Called = createParamDecorator((_: unknown, context: ExecutionContext): Call => {
  const http = context.switchToHttp();
  return { request: http.getRequest(), response: http.getResponse() };
});

/** What people and programs do to a run that is there. */
@Controller('v1/runs/:id')
export class ControlController {
  readonly #verbs: RunVerbs;

  constructor(@Inject(RunVerbs) verbs: RunVerbs) {
    this.#verbs = verbs;
  }

  @Post('cancel')
  @HttpCode(200)
  async cancel(@Called() call: Call): Promise<VerbResult> {
    return this.#send('CANCEL', call, optionalJsonObject(call.request.body));
  }

  @Post('pause')
  @HttpCode(200)
  async pause(@Called() call: Call): Promise<VerbResult> {
    return this.#send('PAUSE', call, optionalJsonObject(call.request.body));
  }

  @Post('resume')
  @HttpCode(200)
  async resume(@Called() call: Call): Promise<VerbResult> {
    return this.#send('RESUME', call, optionalJsonObject(call.request.body));
  }

  @Post('fork')
  @HttpCode(200)
  async fork(@Called() call: Call): Promise<VerbResult> {
    const forked = await this.#send('FORK', call, jsonObject(call.request.body));
    if (forked.runId !== undefined) call.response.setHeader('Location', `/v1/runs/${forked.runId}`);
    return forked;
  }

  @Post('edits')
  @HttpCode(200)
  async propose(@Called() call: Call): Promise<VerbResult> {
    return this.#send('PROPOSE', call, { proposal: jsonObject(call.request.body) });
  }

  @Post('tasks/:taskId/retry')
  @HttpCode(200)
  async retry(@Called() call: Call, @Param('taskId') taskId: string): Promise<VerbResult> {
    const [field] = Object.keys(optionalJsonObject(call.request.body));
    if (field !== undefined) {
      const issues = [{ path: field, message: 'unknown field' }];
      throw new RefusedError({ code: 'INVALID_REQUEST', message: 'A retry says nothing in its body.', issues });
    }
    return this.#send('RETRY', call, { taskId });
  }

  /** Every answer names the id under which the same thing may be said again. */
  async #send(verb: RunVerb, { request, response }: Call, fields: object): Promise<VerbResult> {
    const runId = valid(RunId, request.params['id']);
    const id = this.#verbs.idOf(request.headers['idempotency-key']);
    response.setHeader('Idempotency-Key', id);
    return this.#verbs.send({ runId, verb, fields, id });
  }
}

import { Controller, Get } from '@nestjs/common';
import { asyncApiDocument } from '#proto';
import { Needs } from '../http/index.js';
import { openApi } from './openapi.js';

@Controller()
export class OpenApiController {
  readonly #document = openApi();
  /** Made when it is asked for first: few ever do. */
  #messages: Record<string, unknown> | undefined;

  @Get('openapi.json')
  @Needs('anybody')
  document(): Record<string, unknown> {
    return this.#document;
  }

  /** What crosses the bus and the gateway, beside what crosses HTTP. */
  @Get('asyncapi.json')
  @Needs('anybody')
  messages(): Record<string, unknown> {
    return (this.#messages ??= asyncApiDocument());
  }
}

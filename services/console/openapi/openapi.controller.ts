import { Controller, Get } from '@nestjs/common';
import { asyncApiDocument } from '#proto';
import { Needs } from '../http/index.js';
import { openApi } from './openapi.js';

/** Both descriptions are made when they are asked for first: few ever do, and one takes as long as a tenth of a start. */
@Controller()
export class OpenApiController {
  #document: Record<string, unknown> | undefined;
  #messages: Record<string, unknown> | undefined;

  @Get('openapi.json')
  @Needs('anybody')
  document(): Record<string, unknown> {
    return (this.#document ??= openApi());
  }

  /** What crosses the bus and the gateway, beside what crosses HTTP. */
  @Get('asyncapi.json')
  @Needs('anybody')
  messages(): Record<string, unknown> {
    return (this.#messages ??= asyncApiDocument());
  }
}

import { Controller, Get } from '@nestjs/common';
import { Needs } from '../http/index.js';
import { openApi } from './openapi.js';

@Controller()
export class OpenApiController {
  readonly #document = openApi();

  @Get('openapi.json')
  @Needs('anybody')
  document(): Record<string, unknown> {
    return this.#document;
  }
}

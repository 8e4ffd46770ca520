import { Controller, Get } from '@nestjs/common';
import { openApi } from './openapi.js';

@Controller()
export class OpenApiController {
  readonly #document = openApi();

  @Get('openapi.json')
  document(): Record<string, unknown> {
    return this.#document;
  }
}

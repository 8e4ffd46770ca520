import type { ServerResponse } from 'node:http';
import { Controller, Get, Inject, Param, Res } from '@nestjs/common';
import { RunId } from '#proto';
import { Needs, valid } from '../http/index.js';
import { RunRecords } from './run-records.gateway.js';

/** A run as it is stored: to take it home, and to verify it. Both are recorded, each as what it is. */
@Controller('v1/runs')
export class RecordsController {
  readonly #records: RunRecords;

  constructor(@Inject(RunRecords) records: RunRecords) {
    this.#records = records;
  }

  @Get(':id/export')
  @Needs('EXPORT')
  export(@Param('id') id: string, @Res() response: ServerResponse): Promise<void> {
    return this.#records.serve(valid(RunId, id), response);
  }

  @Get(':id/records')
  @Needs('VERIFY')
  verify(@Param('id') id: string, @Res() response: ServerResponse): Promise<void> {
    return this.#records.serve(valid(RunId, id), response);
  }
}

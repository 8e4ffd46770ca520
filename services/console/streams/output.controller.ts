import { Controller, Get, Inject, Param, Query, Res } from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import { RunId, TaskId } from '#proto';
import { Needs, valid } from '../http/index.js';
import { RunOutput } from './run-output.gateway.js';

@Controller('v1/runs/:id/output')
export class OutputController {
  readonly #output: RunOutput;

  constructor(@Inject(RunOutput) output: RunOutput) {
    this.#output = output;
  }

  @Get()
  @Needs('READ_OUTPUT')
  async follow(
    @Param('id') id: string,
    @Query('task') task: string | undefined,
    @Res() response: ServerResponse,
  ): Promise<void> {
    const taskId = task === undefined ? undefined : valid(TaskId, task);
    await this.#output.serve({ runId: valid(RunId, id), taskId }, response);
  }
}

import { Controller, Get, Inject, Param, Query, Res } from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import { RunId } from '#proto';
import { Needs, valid, type SaidInAddress } from '../http/index.js';
import { outputQueryIn } from './output-query.js';
import { RecordedOutputs } from './recorded-output.gateway.js';
import { RunOutput } from './run-output.gateway.js';

@Controller('v1/runs/:id/output')
export class OutputController {
  readonly #output: RunOutput;
  readonly #recorded: RecordedOutputs;

  constructor(@Inject(RunOutput) output: RunOutput, @Inject(RecordedOutputs) recorded: RecordedOutputs) {
    this.#output = output;
    this.#recorded = recorded;
  }

  @Get()
  @Needs('READ_OUTPUT')
  async follow(@Param('id') id: string, @Query() said: SaidInAddress, @Res() response: ServerResponse): Promise<void> {
    const runId = valid(RunId, id);
    const { format, artifact, wish } = outputQueryIn(said);
    if (artifact !== undefined) await this.#recorded.serve({ runId, wish, format: 'file', name: artifact }, response);
    else if (format === undefined) await this.#output.serve({ runId, taskId: wish.taskId }, response);
    else await this.#recorded.serve({ runId, wish, format }, response);
  }
}

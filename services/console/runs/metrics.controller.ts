import { Controller, Get, Inject, Query, Req, Res } from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import { z } from 'zod';
import { figuresCsv } from '#libs/constellation';
import { FiguresRequest, type FiguresAnswer } from '#proto';
import { callerOf, listIn, Needs, valid, type CalledRequest, type SaidInAddress } from '../http/index.js';
import { RunVerbs } from './run-verbs.client.js';

/** As long as the service takes for as many runs as it adds up. */
const ANSWER_MS_MAX = 45_000;

const Asked = FiguresRequest.extend({ format: z.enum(['json', 'csv']).optional() });

/** Figures over many runs. Those of this process are where every service has them, for Prometheus. */
@Controller('v1/metrics')
export class MetricsController {
  readonly #verbs: RunVerbs;

  constructor(@Inject(RunVerbs) verbs: RunVerbs) {
    this.#verbs = verbs;
  }

  @Get()
  @Needs('logging.metrics')
  async metrics(
    @Req() request: CalledRequest,
    @Query() said: SaidInAddress,
    @Res({ passthrough: true }) response: ServerResponse,
  ): Promise<FiguresAnswer | string> {
    const { status, label, ...more } = said;
    const lists = { ...listIn('status', status, (word) => word.toUpperCase()), ...listIn('label', label) };
    const { format, ...asked } = valid(Asked, { ...more, ...lists });
    const answer = await this.#verbs.ask('metrics', asked, callerOf(request), { timeoutMs: ANSWER_MS_MAX });
    if (format !== 'csv') return answer;
    response.setHeader('Content-Type', 'text/csv; charset=utf-8');
    return figuresCsv(answer);
  }
}

import { Controller, Get, Inject, Query, Req } from '@nestjs/common';
import { SearchRequest, type SearchAnswer } from '#proto';
import { callerOf, listIn, Needs, numberIn, valid, type CalledRequest, type SaidInAddress } from '../http/index.js';
import { RunVerbs } from './run-verbs.client.js';

/** Commands and what they printed, of all runs. */
@Controller('v1/search')
export class SearchController {
  readonly #verbs: RunVerbs;

  constructor(@Inject(RunVerbs) verbs: RunVerbs) {
    this.#verbs = verbs;
  }

  @Get()
  @Needs('logging.search')
  async search(@Req() request: CalledRequest, @Query() said: SaidInAddress): Promise<SearchAnswer> {
    const { limit, exit, state, ...more } = said;
    const codes = listIn('exit', exit)['exit'] as readonly string[] | undefined;
    const asked = {
      ...more,
      ...numberIn('limit', limit),
      ...listIn('state', state, (word) => word.toUpperCase()),
      // Number('') would be the code of success.
      ...(codes && { exit: codes.map((code) => (code === '' ? NaN : Number(code))) }),
    };
    return this.#verbs.ask('search', valid(SearchRequest, asked), callerOf(request));
  }
}

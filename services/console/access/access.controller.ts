import { Controller, Get, Inject, Query, Req } from '@nestjs/common';
import type { QueryAnswer } from '#libs/messaging';
import { QUERIES } from '#proto';
import { callerOf, Needs, valid, type CalledRequest } from '../http/index.js';
import { AccessList } from './access-list.client.js';

/** Of the query of the registry what is said in an address. */
const Asked = QUERIES.registry.access.request;

/** Who looked at what. */
@Controller('v1/access')
export class AccessController {
  readonly #list: AccessList;

  constructor(@Inject(AccessList) list: AccessList) {
    this.#list = list;
  }

  @Get()
  @Needs('registry.access')
  async list(
    @Req() request: CalledRequest,
    @Query() said: Readonly<Record<string, unknown>>,
  ): Promise<QueryAnswer<'registry', 'access'>> {
    const { actor: of, run: runId, access, actors, ...rest } = said;
    const after = placeOf({ access, actors });
    return this.#list.ask(valid(Asked, withoutNothing({ ...rest, of, runId, after })), callerOf(request));
  }
}

/** Where the answer before ended: two numbers in an address. */
function placeOf(said: Readonly<Record<string, unknown>>): object | undefined {
  const place = Object.entries(withoutNothing(said)).map(([stream, text]) => [stream, Number(text)]);
  return place.length === 0 ? undefined : Object.fromEntries(place);
}

function withoutNothing(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

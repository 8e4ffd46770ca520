import type { NatsConnection } from '@nats-io/transport-node';
import { proveActor } from '#libs/keys';
import { query, type QueryAnswer, type QueryRequest } from '#libs/messaging';
import type { Clock } from '#libs/platform';
import { subjects } from '#proto';
import { vouchedFor, type ConsoleCaller } from '../callers/index.js';
import { RefusedError } from '../http/index.js';

export interface AccessListParts {
  readonly nc: NatsConnection;
  readonly clock: Clock;
  /** Of the console's bus key; without it nobody could be asked for. */
  readonly seed: string | undefined;
}

/** What is asked for of the list. */
export type AccessQuestion = Omit<QueryRequest<'registry', 'access'>, 'actor'>;

/** The registry, asked for who looked at what in the name of who wants to know. */
export class AccessList {
  readonly #parts: AccessListParts;

  constructor(parts: AccessListParts) {
    this.#parts = parts;
  }

  /** Throws RefusedError and what `query` throws. */
  async ask(body: AccessQuestion, caller: ConsoleCaller): Promise<QueryAnswer<'registry', 'access'>> {
    const { nc, clock, seed } = this.#parts;
    if (seed === undefined) {
      throw new RefusedError({ code: 'UNAUTHORIZED', message: 'This console has no key to ask with.' }, 403);
    }
    const at = new Date(clock.now()).toISOString();
    const subject = subjects.query('registry', 'access');
    const actor = proveActor(seed, { subject, at, body, vouched: vouchedFor(caller) });
    return query(nc, 'registry', 'access', { ...body, actor });
  }
}

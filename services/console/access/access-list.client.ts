import type { NatsConnection } from '@nats-io/transport-node';
import { query, type QueryAnswer, type QueryRequest } from '#libs/messaging';
import type { Clock } from '#libs/platform';
import { vouchedFor, type ConsoleCaller } from '../callers/index.js';
import { RefusedError } from '../http/index.js';

export interface AccessListParts {
  readonly nc: NatsConnection;
  readonly clock: Clock;
  /** Of the console's bus key; without it nobody could be asked for. */
  readonly seed: string | undefined;
}

/** What is asked for of the list. */
export type AccessQuestion = QueryRequest<'registry', 'access'>;

/** The registry, asked for who looked at what in the name of who wants to know. */
export class AccessList {
  readonly #parts: AccessListParts;

  constructor(parts: AccessListParts) {
    this.#parts = parts;
  }

  /** Throws RefusedError and what `query` throws. */
  async ask(question: AccessQuestion, caller: ConsoleCaller): Promise<QueryAnswer<'registry', 'access'>> {
    const { nc, clock, seed } = this.#parts;
    if (seed === undefined) {
      throw new RefusedError({ code: 'UNAUTHORIZED', message: 'This console has no key to ask with.' }, 403);
    }
    const signer = { seed, now: () => clock.now(), vouched: vouchedFor(caller) };
    return query(nc, 'registry', 'access', question, { signer });
  }
}

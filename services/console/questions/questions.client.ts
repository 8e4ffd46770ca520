import type { NatsConnection } from '@nats-io/transport-node';
import { query, queryAll, type CommandSigner, type QueryName, type QueryRequest } from '#libs/messaging';
import type { Clock } from '#libs/platform';
import { ASKED_OF_ALL, type QUERIES, type QueryAction } from '#proto';
import { vouchedFor, type ConsoleCaller } from '../callers/index.js';
import { RefusedError } from '../http/index.js';

/** As long as a person waits for a model. */
const SLOW_MS_MAX = 120_000;
/** As long as the planner waits for where it keeps what it learnt. */
const ANSWER_MS_MAX = 45_000;

export interface QuestionsParts {
  readonly nc: NatsConnection;
  readonly clock: Clock;
  /** Of the console's bus key; without it nobody could be asked for. */
  readonly seed: string | undefined;
}

/** Asks services in the name of who uses the console; they decide whether they answer. */
export class Questions {
  readonly #parts: QuestionsParts;

  constructor(parts: QuestionsParts) {
    this.#parts = parts;
  }

  /** `asked`: checked by the schema of the question. Throws RefusedError, QueryRefusedError, QueryUnavailableError. */
  ask(asks: QueryAction, asked: object, caller: ConsoleCaller, isSlow = false): Promise<unknown> {
    const { nc, clock, seed } = this.#parts;
    if (seed === undefined) {
      const message = 'This console has no key to sign with, so it asks for nobody.';
      throw new RefusedError({ code: 'UNAUTHORIZED', message }, 403);
    }
    const signer = { seed, now: () => clock.now(), vouched: vouchedFor(caller) };
    const [service, name] = asks.split('.') as [keyof typeof QUERIES, QueryName<'registry'>];
    if ((ASKED_OF_ALL as readonly QueryAction[]).includes(asks)) return this.#askAll(service, name, asked, signer);
    const timeoutMs = isSlow ? SLOW_MS_MAX : ANSWER_MS_MAX;
    return query(nc, service as 'registry', name, asked as QueryRequest<'registry', QueryName<'registry'>>, {
      signer,
      timeoutMs,
    });
  }
  async #askAll(
    service: keyof typeof QUERIES,
    name: string,
    asked: object,
    signer: CommandSigner,
  ): Promise<{ replicas: unknown[] }> {
    const { nc } = this.#parts;
    const request = asked as QueryRequest<'planner', 'settings'>;
    return { replicas: await queryAll(nc, service as 'planner', name as 'settings', request, { signer }) };
  }
}

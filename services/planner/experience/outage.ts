import type { Logger } from 'pino';

/** Something that is needed for some things and may be away: said once, until all that missed it has had it again. */
export class Outage {
  readonly #logger: Pick<Logger, 'warn'>;
  readonly #message: string;
  readonly #missedBy = new Set<string>();

  constructor(logger: Pick<Logger, 'warn'>, message: string) {
    this.#logger = logger;
    this.#message = message;
  }

  began(by: string, facts: object): void {
    if (this.#missedBy.size === 0) this.#logger.warn(facts, this.#message);
    this.#missedBy.add(by);
  }

  ended(by: string): void {
    this.#missedBy.delete(by);
  }
}

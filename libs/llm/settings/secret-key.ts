import { inspect } from 'node:util';

const SHOWN = '[key]';

/** A key that shows itself to nobody by accident: not in a log, not in an error, not as JSON. */
export class SecretKey {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** For the header of a request, and for taking it out of texts. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return SHOWN;
  }

  toJSON(): string {
    return SHOWN;
  }

  [inspect.custom](): string {
    return SHOWN;
  }
}

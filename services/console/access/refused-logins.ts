/** How many records in a row, and how long until there is room for one more. */
export interface RefusalLimits {
  readonly inARowMax: number;
  readonly oneEveryMs: number;
}

/**
 * Which refused logins have a record of their own: some in a row, then one in a while, which tells how many there were. Nobody who has
 * no login can write as many records as he likes.
 */
export class RefusedLogins {
  readonly #limits: RefusalLimits;
  #room: number;
  #at: number | undefined;
  #untold = 0;

  constructor(limits: RefusalLimits) {
    this.#limits = limits;
    this.#room = limits.inARowMax;
  }

  /** How many the record of this one tells of; 0 when it has none. `now` in milliseconds since the epoch. */
  take(now: number): number {
    this.#untold += 1;
    return this.told(now);
  }

  /** How many were not told yet, when there is room for a record of them; they are told then. */
  told(now: number): number {
    const { inARowMax, oneEveryMs } = this.#limits;
    this.#at ??= now;
    const more = Math.max(0, Math.floor((now - this.#at) / oneEveryMs));
    this.#room = Math.min(inARowMax, this.#room + more);
    this.#at = this.#room === inARowMax ? now : this.#at + more * oneEveryMs;
    if (this.#room === 0 || this.#untold === 0) return 0;
    this.#room -= 1;
    const told = this.#untold;
    this.#untold = 0;
    return told;
  }
}

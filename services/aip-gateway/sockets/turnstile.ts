export interface TurnstileOptions {
  readonly atOnce: number;
  /** Over all addresses. */
  readonly waitingMax: number;
}

/**
 * Lets so many in at once. Who waits is let in address by address, and of one address in the order of arrival: a crowd from
 * one of them makes itself wait, and the others wait for one of the crowd at most.
 */
export class Turnstile {
  readonly #options: TurnstileOptions;
  readonly #waiting = new Map<string, (() => void)[]>();
  #waitingCount = 0;
  #inside = 0;

  constructor(options: TurnstileOptions) {
    this.#options = options;
  }

  /** True when it is this one's turn, and then `leave` has to be called; false at once when too many wait. */
  async enter(address: string): Promise<boolean> {
    const { atOnce, waitingMax } = this.#options;
    if (this.#inside < atOnce) {
      this.#inside++;
      return true;
    }
    if (this.#waitingCount >= waitingMax) return false;
    const { promise: turn, resolve } = Promise.withResolvers<void>();
    const queue = this.#waiting.get(address) ?? [];
    this.#waiting.set(address, queue);
    queue.push(resolve);
    this.#waitingCount++;
    await turn;
    return true;
  }

  /** Gives the place to the next one. */
  leave(): void {
    const [first] = this.#waiting;
    if (first === undefined) {
      this.#inside--;
      return;
    }
    const [address, queue] = first;
    const next = queue.shift();
    // To the end of the map: the other addresses come first now.
    this.#waiting.delete(address);
    if (queue.length > 0) this.#waiting.set(address, queue);
    this.#waitingCount--;
    next?.();
  }
}

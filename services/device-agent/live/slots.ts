/** At most `max` at once; who comes later waits in the order of coming. */
export class Slots {
  readonly #max: number;
  readonly #waiting: (() => void)[] = [];
  readonly #changed: (() => void) | undefined;
  #taken = 0;
  #lent = 0;

  /** `changed`: there is more room, or less, than before because somebody waits outside. */
  constructor(max: number, changed?: () => void) {
    this.#max = max;
    this.#changed = changed;
  }

  get taken(): number {
    return this.#taken;
  }

  async use<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#take();
    if (turn !== null) await turn;
    try {
      return await work();
    } finally {
      this.#giveBack();
    }
  }

  /**
   * Who waits for a person gives its slot back meanwhile; to be called by who has one. Who is halted, or fails, takes it again
   * even where there is no room: what it has left to do is to end.
   */
  async without<T>(halted: AbortSignal, work: () => Promise<T>): Promise<T> {
    this.#lent += 1;
    this.#giveBack();
    this.#changed?.();
    let isDone = false;
    try {
      const result = await work();
      isDone = true;
      return result;
    } finally {
      if (isDone) await this.#takeAgain(halted);
      else this.#taken += 1;
      this.#lent -= 1;
    }
  }

  /** Those that gave their slot back for a while. */
  get lent(): number {
    return this.#lent;
  }

  /** Null when there is room. */
  #take(): Promise<void> | null {
    if (this.#taken >= this.#max) return new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#taken += 1;
    return null;
  }

  #takeAgain(halted: AbortSignal): Promise<void> | null {
    if (!halted.aborted) {
      const turn = this.#take();
      const inLine = this.#waiting.at(-1);
      if (turn === null || inLine === undefined) return turn;
      const { promise, resolve } = Promise.withResolvers<void>();
      const hurry = () => {
        const place = this.#waiting.indexOf(inLine);
        if (place === -1) return; // it was its turn
        this.#waiting.splice(place, 1);
        this.#taken += 1;
        resolve();
      };
      halted.addEventListener('abort', hurry, { once: true });
      return Promise.race([turn, promise]).finally(() => halted.removeEventListener('abort', hurry));
    }
    this.#taken += 1;
    return null;
  }

  #giveBack(): void {
    const next = this.#taken > this.#max ? undefined : this.#waiting.shift();
    if (next === undefined) this.#taken -= 1;
    else next(); // the slot is handed on: nobody can come in between
  }
}

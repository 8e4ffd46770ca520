/** At most `max` at once; who comes later waits in the order of coming. A slot that is given back is handed on: nobody comes in between. */
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

  /** Those that gave their slot back for a while. */
  get lent(): number {
    return this.#lent;
  }

  /** Calls `granted` when there is a slot, perhaps at once. What it returns gives the slot back, or the place in the line up; only once. */
  ask(granted: () => void): () => void {
    let [isIn, isOver] = [false, false];
    const begin = (): void => {
      isIn = true;
      granted();
    };
    if (this.#taken < this.#max) {
      this.#taken += 1;
      begin();
    } else this.#waiting.push(begin);
    return () => {
      if (isOver) return;
      isOver = true;
      if (isIn) this.#giveBack();
      else this.#waiting.splice(this.#waiting.indexOf(begin), 1);
    };
  }

  /** What gives the slot back, only once; undefined when there is none now. */
  tryEnter(): (() => void) | undefined {
    return this.#taken < this.#max ? this.ask(() => undefined) : undefined;
  }

  /** Waits for a slot. What gives it back, only once; undefined when the signal came first. */
  async enter(signal?: AbortSignal): Promise<(() => void) | undefined> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const leave = this.ask(() => resolve(true));
    const stop = (): void => resolve(false);
    signal?.addEventListener('abort', stop, { once: true });
    if (signal?.aborted === true) stop();
    const isIn = await promise;
    signal?.removeEventListener('abort', stop);
    if (isIn) return leave;
    leave();
    return undefined;
  }

  async use<T>(work: () => Promise<T>): Promise<T> {
    const leave = this.tryEnter() ?? (await this.enter());
    try {
      return await work();
    } finally {
      leave?.();
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
    let goesOn = false;
    try {
      const result = await work();
      goesOn = !halted.aborted;
      return result;
    } finally {
      // The slot is given back by who lent it; the way to give it back that comes with it is not needed.
      if (!goesOn || (await this.enter(halted)) === undefined) this.#taken += 1;
      this.#lent -= 1;
    }
  }

  #giveBack(): void {
    const next = this.#taken > this.#max ? undefined : this.#waiting.shift();
    if (next === undefined) this.#taken -= 1;
    else next();
  }
}

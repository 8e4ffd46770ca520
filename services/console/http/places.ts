/** How much one caller may hold at once, and all callers together. */
export interface PlaceLimits {
  readonly eachMax: number;
  readonly allMax: number;
}

/** Whose limit would be passed. */
export type Crowded = 'caller' | 'all';

/** Counts what callers hold: requests, streams, bytes. Nobody can take what is left for the others, nor all of them more than there is. */
export class Places {
  readonly #limits: PlaceLimits;
  readonly #held = new Map<string, number>();
  #all = 0;

  constructor(limits: PlaceLimits) {
    this.#limits = limits;
  }

  /** Undefined when it was taken; then it has to be given back. */
  take(caller: string, amount = 1): Crowded | undefined {
    const held = (this.#held.get(caller) ?? 0) + amount;
    if (held > this.#limits.eachMax) return 'caller';
    if (this.#all + amount > this.#limits.allMax) return 'all';
    this.#held.set(caller, held);
    this.#all += amount;
    return undefined;
  }

  giveBack(caller: string, amount = 1): void {
    const left = (this.#held.get(caller) ?? 0) - amount;
    if (left > 0) this.#held.set(caller, left);
    else this.#held.delete(caller);
    this.#all -= amount;
  }
}

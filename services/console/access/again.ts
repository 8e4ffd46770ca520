/** What is done once within a time, however often and by how many at once it is asked for; what failed is done anew. */
export class OnceInAWhile {
  readonly #whileMs: number;
  readonly #keysMax: number;
  /** Oldest first. */
  readonly #done = new Map<string, { readonly at: number; readonly done: Promise<void> }>();

  constructor({ whileMs, keysMax }: { readonly whileMs: number; readonly keysMax: number }) {
    this.#whileMs = whileMs;
    this.#keysMax = keysMax;
  }

  /** `now` in milliseconds since the epoch. Of more keys than fit, the oldest are forgotten: what they name is done again. */
  do(key: string, now: number, work: () => Promise<void>): Promise<void> {
    const known = this.#done.get(key);
    if (known !== undefined && now - known.at < this.#whileMs) return known.done;
    const done = work();
    const entry = { at: now, done };
    this.#done.delete(key);
    this.#done.set(key, entry);
    done.catch(() => {
      if (this.#done.get(key) === entry) this.#done.delete(key);
    });
    for (const [oldest] of this.#done) {
      if (this.#done.size <= this.#keysMax) break;
      this.#done.delete(oldest);
    }
    return done;
  }
}

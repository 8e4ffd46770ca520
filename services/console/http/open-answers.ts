/** What an answer looks like to who counts what waits in it. */
export interface OpenAnswer {
  /** Bytes that the client has not taken yet. */
  readonly writableLength: number;
  destroy(): unknown;
}

/** The answers that are on their way. What waits for slow readers has a bound in all: past it, those with the most waiting are dropped. */
export class OpenAnswers {
  readonly #open = new Set<OpenAnswer>();
  readonly #bytesMax: number;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  add(answer: OpenAnswer): void {
    this.#open.add(answer);
  }

  delete(answer: OpenAnswer): void {
    this.#open.delete(answer);
  }

  /** To be called when something was written. */
  bound(): void {
    let waiting = 0;
    for (const { writableLength } of this.#open) waiting += writableLength;
    if (waiting <= this.#bytesMax) return;
    const byWaiting = [...this.#open].sort((left, right) => right.writableLength - left.writableLength);
    for (const answer of byWaiting) {
      if (waiting <= this.#bytesMax) return;
      waiting -= answer.writableLength;
      this.#open.delete(answer);
      answer.destroy();
    }
  }
}

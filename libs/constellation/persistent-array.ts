const CHUNK = 32;

/**
 * An immutable array of fixed length whose copies share what did not change: `with` copies one chunk and the list of
 * chunks, so that folding an event costs the same in a run of ten tasks and of ten thousand.
 */
export class PersistentArray<T> {
  readonly #chunks: readonly (readonly T[])[];
  readonly length: number;

  private constructor(chunks: readonly (readonly T[])[], length: number) {
    this.#chunks = chunks;
    this.length = length;
  }

  static from<T>(items: readonly T[]): PersistentArray<T> {
    const chunks: T[][] = [];
    for (let start = 0; start < items.length; start += CHUNK) chunks.push(items.slice(start, start + CHUNK));
    return new PersistentArray(chunks, items.length);
  }

  at(index: number): T {
    const chunk = this.#chunks[Math.floor(index / CHUNK)];
    if (chunk === undefined || index < 0 || index >= this.length) {
      throw new RangeError(`index ${index} is outside of 0..${this.length - 1}`);
    }
    return chunk[index % CHUNK] as T;
  }

  with(index: number, item: T): PersistentArray<T> {
    if (this.at(index) === item) return this;
    const which = Math.floor(index / CHUNK);
    const chunks = [...this.#chunks];
    const chunk = [...(chunks[which] ?? [])];
    chunk[index % CHUNK] = item;
    chunks[which] = chunk;
    return new PersistentArray(chunks, this.length);
  }

  *[Symbol.iterator](): Generator<T> {
    for (const chunk of this.#chunks) yield* chunk;
  }
}

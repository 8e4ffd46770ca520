interface Going<T> {
  /** Resolves when the read is over, well or not. */
  readonly over: Promise<void>;
  /** The read that whoever asks meanwhile waits for. */
  next: Promise<T> | undefined;
}

/**
 * Reads of one and the same thing that are asked for while it is being read share the read behind that one: what they are told is not older
 * than their question, and however many ask, no more than two of it are in memory.
 */
export class SharedReads<K, T> {
  readonly #read: (key: K) => Promise<T>;
  readonly #going = new Map<K, Going<T>>();

  constructor(read: (key: K) => Promise<T>) {
    this.#read = read;
  }

  /** Rejects as the read does. */
  of(key: K): Promise<T> {
    const going = this.#going.get(key);
    if (going === undefined) return this.#begin(key);
    going.next ??= going.over.then(() => this.#begin(key));
    return going.next;
  }

  #begin(key: K): Promise<T> {
    const read = this.#read(key);
    const nothing = (): void => undefined;
    const going: Going<T> = { over: read.then(nothing, nothing), next: undefined };
    this.#going.set(key, going);
    void this.#forget(key, going);
    return read;
  }

  async #forget(key: K, going: Going<T>): Promise<void> {
    await going.over;
    if (going.next === undefined) this.#going.delete(key);
  }
}

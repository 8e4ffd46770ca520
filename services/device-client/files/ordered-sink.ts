import type { FileSink } from '#libs/aip';

export interface SinkEvents {
  /** So many bytes are written. */
  readonly taken: (bytes: number) => void;
  /** At most once; nothing is written afterwards. */
  readonly failed: (error: unknown) => void;
}

/** Where pieces of a file are written one after the other, until one cannot be, or nobody wants them any more. */
export abstract class OrderedSink implements FileSink {
  readonly #events: SinkEvents;
  #tail: Promise<void> = Promise.resolve();
  #bytes = 0;
  #over = false;

  constructor(events: SinkEvents) {
    this.#events = events;
  }

  abstract commit(): Promise<void>;

  /** Writes all of it; `at`: bytes that were written before. */
  protected abstract put(data: Uint8Array, at: number): Promise<void>;

  write(data: Uint8Array): void {
    this.#tail = this.#tail.then(() => this.#write(data));
  }

  async discard(): Promise<void> {
    this.#over = true;
    await this.#tail;
  }

  /** Never rejects. Resolves when what came so far is written, or will not be. */
  protected written(): Promise<void> {
    return this.#tail;
  }

  async #write(data: Uint8Array): Promise<void> {
    if (this.#over) return;
    try {
      await this.put(data, this.#bytes);
      this.#bytes += data.length;
      if (!this.#over) this.#events.taken(this.#bytes);
    } catch (error) {
      if (this.#over) return;
      this.#over = true;
      this.#events.failed(error);
    }
  }
}

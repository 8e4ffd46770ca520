/** A part that works on and on, for as long as its service does. */
export abstract class Loop {
  readonly #ending = new AbortController();
  #running: Promise<unknown> = Promise.resolve();

  /** Aborted when the service ends. */
  protected get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** Ends with the signal. What it throws is a bug or a broken promise of the log: nobody catches it, the process ends and starts anew. */
  abstract run(signal: AbortSignal): Promise<void>;

  /** `run` goes on behind it. */
  begin(): void | Promise<void> {
    this.#running = this.run(this.signal);
  }

  /** Takes nothing more on, ends what is in work. */
  async end(): Promise<void> {
    this.#ending.abort();
    await Promise.allSettled([this.#running]);
  }
}

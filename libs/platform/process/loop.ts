/** A part of a service that works for as long as the service does: begun after what it needs, ended before it. */
export abstract class Loop {
  readonly #ending = new AbortController();
  #running: Promise<unknown> = Promise.resolve();

  /** Aborted when the service ends. */
  protected get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** Ends with the signal. What it throws is a bug or a broken promise of the log: nobody catches it, the process ends and starts anew. */
  abstract run(signal: AbortSignal): Promise<void>;

  /** Called by the framework; `run` goes on behind it. */
  onApplicationBootstrap(): void | Promise<void> {
    this.#running = this.run(this.signal);
  }

  /** Called by the framework: takes nothing more on, ends what is in work. */
  async beforeApplicationShutdown(): Promise<void> {
    this.#ending.abort();
    await Promise.allSettled([this.#running]);
  }
}

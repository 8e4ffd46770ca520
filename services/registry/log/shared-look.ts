/**
 * One look at the world for everybody who asks while it is under way. Each gets a look that began after the
 * question, so it never shows less than what was true by then.
 */
export class SharedLook<T> {
  readonly #look: () => Promise<T>;
  #running: Promise<unknown> = Promise.resolve();
  #next: Promise<T> | undefined;

  constructor(look: () => Promise<T>) {
    this.#look = look;
  }

  ask(): Promise<T> {
    this.#next ??= this.#afterTheRunning();
    return this.#next;
  }

  async #afterTheRunning(): Promise<T> {
    await this.#running;
    this.#next = undefined;
    const look = this.#look();
    this.#running = look.then(
      () => undefined,
      () => undefined,
    );
    return look;
  }
}

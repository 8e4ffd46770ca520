/** Wakes one waiter. What is raised while nobody waits is kept, once: a loop that works on everything there is misses nothing. */
export class Wake {
  #raised = false;
  #waiting: (() => void) | undefined;

  raise(): void {
    this.#raised = true;
    this.#waiting?.();
  }

  /** Resolves after the next `raise`, at once when there was one since the last wait, or when aborted. */
  async wait(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting = resolve;
    signal.addEventListener('abort', () => resolve(), { once: true });
    if (this.#raised || signal.aborted) resolve();
    await promise;
    this.#waiting = undefined;
    this.#raised = false;
  }
}

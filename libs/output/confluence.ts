interface Drop<T> {
  readonly item: T;
  readonly taken: () => void;
}

/** Items of several sources as they come. No source is asked for the next one before its last was taken: nothing piles up. */
export class Confluence<T> {
  readonly #drops: Drop<T>[] = [];
  #news = Promise.withResolvers<void>();
  #isOver = false;
  #failure: { readonly error: unknown } | undefined;

  /** From now on its items are among the others. When a main source ends, all is over. */
  join(source: AsyncIterable<T>, { isMain = false }: { readonly isMain?: boolean } = {}): void {
    void this.#draw(source, isMain);
  }

  /** Until a main source has ended, or one has failed: then it throws what that failed with. */
  async *items(): AsyncGenerator<T, void, undefined> {
    for (;;) {
      const drop = this.#drops.shift();
      if (drop !== undefined) {
        yield drop.item;
        drop.taken();
        continue;
      }
      if (this.#failure !== undefined) throw this.#failure.error;
      if (this.#isOver) return;
      await this.#news.promise;
      this.#news = Promise.withResolvers();
    }
  }

  async #draw(source: AsyncIterable<T>, isMain: boolean): Promise<void> {
    try {
      for await (const item of source) {
        const { promise, resolve: taken } = Promise.withResolvers<void>();
        this.#drops.push({ item, taken });
        this.#news.resolve();
        await promise;
      }
      this.#isOver ||= isMain;
    } catch (error) {
      this.#failure ??= { error };
    }
    this.#news.resolve();
  }
}

import { doubledMs } from '#libs/backoff';
import { setTimeout as sleep } from 'node:timers/promises';
import { Loop } from '#libs/platform';

/** When everything is held, every device is looked at, and somebody waits for it. */
const CONCURRENCY_MAX = 32;
const WAIT = { msMin: 200, msMax: 10_000 };

interface DirtyKeysOptions {
  /** Brings the key up to date from what is known when it is called; may be called again at any time. */
  readonly process: (key: string) => Promise<unknown>;
  /** `failures` in a row of this key. */
  readonly failed: (error: unknown, key: string, failures: number) => void;
}

/**
 * Keys that have to be looked at. Marking a key twice before its turn is one look, never two at the same time; a look that
 * fails is repeated for ever, slower each time, without holding up the other keys.
 */
export class DirtyKeys extends Loop {
  readonly #options: DirtyKeysOptions;
  readonly #dirty = new Set<string>();
  readonly #busy = new Set<string>();
  readonly #failures = new Map<string, number>();
  readonly #waiting = new Map<string, (() => void)[]>();
  #wake: () => void = () => undefined;

  constructor(options: DirtyKeysOptions) {
    super();
    this.#options = options;
  }

  mark(key: string): void {
    this.#dirty.add(key);
    this.#wake();
  }

  /** Marks the key; resolves when a look that began after this has worked, and never when there is none any more. */
  done(key: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wait(key, [resolve]);
    this.mark(key);
    return promise;
  }

  /** True when nothing is marked and nothing is in work. */
  isClean(): boolean {
    return this.#dirty.size === 0 && this.#busy.size === 0 && this.#failures.size === 0;
  }

  /** Ends with the signal, after what is in work. */
  async run(signal: AbortSignal): Promise<void> {
    const stop = (): void => this.#wake();
    signal.addEventListener('abort', stop);
    const working = new Set<Promise<void>>();
    while (!signal.aborted) {
      const key = this.#next();
      if (key === undefined) {
        await this.#woken(signal);
        continue;
      }
      const work = this.#work(key, signal).finally(() => working.delete(work));
      working.add(work);
    }
    signal.removeEventListener('abort', stop);
    await Promise.all(working);
  }

  #next(): string | undefined {
    if (this.#busy.size >= CONCURRENCY_MAX) return undefined;
    for (const key of this.#dirty) {
      if (this.#busy.has(key)) continue;
      this.#dirty.delete(key);
      this.#busy.add(key);
      return key;
    }
    return undefined;
  }

  async #woken(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    if (!signal.aborted) await promise;
  }

  async #work(key: string, signal: AbortSignal): Promise<void> {
    const waiting = this.#waiting.get(key) ?? [];
    this.#waiting.delete(key);
    try {
      await this.#options.process(key);
      this.#failures.delete(key);
      for (const resolve of waiting) resolve();
    } catch (error) {
      this.#wait(key, waiting);
      if (!signal.aborted) this.#failAndRepeat(key, error, signal);
    } finally {
      this.#busy.delete(key);
      this.#wake();
    }
  }

  #wait(key: string, more: readonly (() => void)[]): void {
    if (more.length > 0) this.#waiting.set(key, [...(this.#waiting.get(key) ?? []), ...more]);
  }

  #failAndRepeat(key: string, error: unknown, signal: AbortSignal): void {
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    this.#options.failed(error, key, failures);
    sleep(doubledMs(WAIT, failures), undefined, { signal, ref: false }).then(
      () => this.mark(key),
      () => undefined,
    );
  }
}

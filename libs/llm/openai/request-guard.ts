import type { Fault } from './fault.js';

export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Ends a request when its time is over or nobody wants it any more, and knows which of the two it was. */
export class RequestGuard {
  readonly controller = new AbortController();
  readonly #outer: AbortSignal;
  readonly #timer: NodeJS.Timeout;
  readonly #timeoutMs: number;
  readonly #abort = () => this.controller.abort();
  #timedOut = false;

  constructor(outer: AbortSignal, timeoutMs: number) {
    this.#outer = outer;
    this.#timeoutMs = Math.max(1, Math.min(LONGEST_TIMER_MS, Math.ceil(timeoutMs)));
    this.#timer = setTimeout(() => {
      this.#timedOut = true;
      this.controller.abort();
    }, this.#timeoutMs);
    outer.addEventListener('abort', this.#abort, { once: true });
    if (outer.aborted) this.controller.abort();
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  fault(): Fault | null {
    if (this.#outer.aborted) return { code: 'ABORTED', message: 'nobody wants the reply any more' };
    if (this.#timedOut) return { code: 'TIMEOUT', message: `no whole reply within ${this.#timeoutMs} ms` };
    return null;
  }

  release(): void {
    clearTimeout(this.#timer);
    this.#outer.removeEventListener('abort', this.#abort);
  }
}

import type { Transport, TransportHandlers } from '#libs/aip';
import { AIP_LIMITS } from '#proto';

type Side = 'device' | 'server';
const other = (side: Side): Side => (side === 'device' ? 'server' : 'device');
const CUT = 1006;

/** One connection whose ends may learn at different times that it is broken. */
export class Wire {
  readonly #handlers: Partial<Record<Side, TransportHandlers>> = {};
  readonly #open = { device: true, server: true };
  #onTheWay: { readonly to: Side; readonly text: string }[] = [];
  #brokenForMs: number | undefined;

  end(side: Side): Transport {
    return {
      handle: (handlers) => void (this.#handlers[side] = handlers),
      send: (text) => {
        if (this.#open[side] && this.#brokenForMs === undefined) this.#onTheWay.push({ to: other(side), text });
        return this.#open[side];
      },
      close: (code, reason) => this.#close(side, code, reason),
      terminate: () => this.#ended(side, CUT, ''),
      pause: () => undefined,
      resume: () => undefined,
      congested: false,
    };
  }

  isOpen(side: Side): boolean {
    return this.#open[side];
  }

  deliver(frames = Infinity): void {
    for (let delivered = 0; delivered < frames; delivered++) {
      const index = this.#onTheWay.findIndex(({ to }) => this.#handlers[to] !== undefined);
      const [next] = index < 0 ? [] : this.#onTheWay.splice(index, 1);
      if (next === undefined) return;
      if (this.#open[next.to]) this.#handlers[next.to]?.frame(next.text);
    }
  }

  /** Nothing arrives any more, and nobody knows. */
  break(): void {
    this.#brokenForMs ??= 0;
    this.#onTheWay = [];
  }

  /** One end finds out. */
  notice(side: Side): void {
    this.#ended(side, CUT, '');
  }

  /** Pings find out in the end. */
  advance(ms: number): void {
    if (this.#brokenForMs === undefined) return;
    this.#brokenForMs += ms;
    if (this.#brokenForMs < AIP_LIMITS.deadAfterMs) return;
    this.notice('device');
    this.notice('server');
  }

  #close(side: Side, code: number, reason: string): void {
    if (!this.#open[side]) return;
    if (this.#brokenForMs === undefined) {
      this.deliver();
      this.#ended(other(side), code, reason);
    }
    this.#ended(side, code, reason);
  }

  #ended(side: Side, code: number, reason: string): void {
    if (!this.#open[side]) return;
    this.#open[side] = false;
    this.#handlers[side]?.closed({ code, reason });
  }
}

import type { NatsConnection } from '@nats-io/transport-node';
import { hearingTime } from './hearing-time.adapter.js';

/** How long a request waits for a broken connection to come back before it is given up. */
const RECONNECT_WAIT_MS = 4_000;
/** A server that starts again is back before long; a person who waits longer than this is told that it is away. */
const AWAY_WAIT_MS = 1_000;

/** The connection is broken: what was sent may have arrived or not, and its answer will not come any more. */
class DisconnectedError extends Error {
  override readonly name = 'DisconnectedError';
}

const watches = new WeakMap<NatsConnection, ConnectionWatch>();

/**
 * Knows whether the connection stands. The client by itself drops what is sent while it does not, and lets those who wait
 * for an answer run into their timeout; here they hear at once, and nothing is sent before the connection is back.
 */
export class ConnectionWatch {
  #connected = true;
  readonly #answers = new Set<(error: DisconnectedError) => void>();
  readonly #reconnects = new Set<() => void>();
  readonly #breaks = new Set<() => void>();
  readonly #nc: NatsConnection;

  private constructor(nc: NatsConnection) {
    this.#nc = nc;
    void this.#follow(nc);
  }

  /** One per connection. */
  static of(nc: NatsConnection): ConnectionWatch {
    const watch = watches.get(nc) ?? new ConnectionWatch(nc);
    watches.set(nc, watch);
    return watch;
  }

  /** Sends when the connection stands, and waits for the answer only as long as it does. Throws DisconnectedError otherwise. */
  async request<T>(send: () => Promise<T>): Promise<T> {
    if (!this.#connected) await this.#reconnected();
    const { promise, reject } = Promise.withResolvers<never>();
    this.#answers.add(reject);
    try {
      return await Promise.race([send(), promise]);
    } finally {
      this.#answers.delete(reject);
    }
  }

  /** Whether the connection stands, as far as anybody can tell here. */
  get isConnected(): boolean {
    return this.#connected;
  }

  /** Whether it stands, or does again before a person has waited long; within the time at most. */
  async isBackSoon(withinMs: number = AWAY_WAIT_MS): Promise<boolean> {
    if (this.#connected) return true;
    const time = hearingTime(Math.min(withinMs, AWAY_WAIT_MS));
    await this.back(time.over);
    time.end();
    return this.#connected;
  }

  /** Calls back whenever the connection breaks, until what is returned is called. */
  onBreak(listener: () => void): () => void {
    this.#breaks.add(listener);
    return () => void this.#breaks.delete(listener);
  }

  /** Resolves when the connection stands, however long that takes; also when it is closed for good, or the signal is aborted. */
  async back(signal: AbortSignal): Promise<void> {
    if (this.#connected || signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const end = (): void => resolve();
    this.#reconnects.add(end);
    signal.addEventListener('abort', end);
    await Promise.race([promise, this.#nc.closed()]);
    signal.removeEventListener('abort', end);
    this.#reconnects.delete(end);
  }

  async #reconnected(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const limit = setTimeout(() => reject(new DisconnectedError('NATS is not reachable')), RECONNECT_WAIT_MS);
    this.#reconnects.add(resolve);
    try {
      await promise;
    } finally {
      clearTimeout(limit);
      this.#reconnects.delete(resolve);
    }
  }

  async #follow(nc: NatsConnection): Promise<void> {
    for await (const status of nc.status()) {
      if (status.type === 'disconnect') {
        this.#connected = false;
        for (const tell of this.#breaks) tell();
        for (const reject of this.#answers) reject(new DisconnectedError('the connection to NATS broke'));
      } else if (status.type === 'reconnect') {
        this.#connected = true;
        for (const resolve of this.#reconnects) resolve();
      }
    }
  }
}

import type { NatsConnection } from '@nats-io/transport-node';

/** How long a request waits for a broken connection to come back before it is given up. */
const RECONNECT_WAIT_MS = 4_000;

/** The connection is broken: what was sent may have arrived or not, and its answer will not come any more. */
export class DisconnectedError extends Error {
  override readonly name = 'DisconnectedError';
}

const watches = new WeakMap<NatsConnection, ConnectionWatch>();

/**
 * Knows whether the connection stands. The client by itself drops what is sent while it does not, and lets those who wait
 * for an answer run into their timeout; here they hear at once, and nothing is sent before the connection is back.
 */
export class ConnectionWatch {
  private connected = true;
  private readonly answers = new Set<(error: DisconnectedError) => void>();
  private readonly reconnects = new Set<() => void>();

  private constructor(nc: NatsConnection) {
    void this.follow(nc);
  }

  /** One per connection. */
  static of(nc: NatsConnection): ConnectionWatch {
    const watch = watches.get(nc) ?? new ConnectionWatch(nc);
    watches.set(nc, watch);
    return watch;
  }

  /** Sends when the connection stands, and waits for the answer only as long as it does. Throws DisconnectedError otherwise. */
  async request<T>(send: () => Promise<T>): Promise<T> {
    if (!this.connected) await this.reconnected();
    const { promise, reject } = Promise.withResolvers<never>();
    this.answers.add(reject);
    try {
      return await Promise.race([send(), promise]);
    } finally {
      this.answers.delete(reject);
    }
  }

  private async reconnected(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const limit = setTimeout(() => reject(new DisconnectedError('NATS is not reachable')), RECONNECT_WAIT_MS);
    this.reconnects.add(resolve);
    try {
      await promise;
    } finally {
      clearTimeout(limit);
      this.reconnects.delete(resolve);
    }
  }

  private async follow(nc: NatsConnection): Promise<void> {
    for await (const status of nc.status()) {
      if (status.type === 'disconnect') {
        this.connected = false;
        for (const reject of this.answers) reject(new DisconnectedError('the connection to NATS broke'));
      } else if (status.type === 'reconnect') {
        this.connected = true;
        for (const resolve of this.reconnects) resolve();
      }
    }
  }
}

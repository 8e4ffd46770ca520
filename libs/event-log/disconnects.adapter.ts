import type { NatsConnection } from '@nats-io/transport-node';

/** The connection broke while an answer was awaited: it will not come any more. */
export class DisconnectedError extends Error {
  override readonly name = 'DisconnectedError';
}

/** Tells those who wait for an answer at once when the connection breaks; the client itself lets them run into their timeout. */
export class Disconnects {
  private readonly waiting = new Set<(error: DisconnectedError) => void>();

  constructor(nc: NatsConnection) {
    void this.follow(nc);
  }

  /** `answer`, or DisconnectedError when the connection breaks before. */
  async orDisconnected<T>(answer: Promise<T>): Promise<T> {
    const { promise, reject } = Promise.withResolvers<never>();
    this.waiting.add(reject);
    try {
      return await Promise.race([answer, promise]);
    } finally {
      this.waiting.delete(reject);
    }
  }

  private async follow(nc: NatsConnection): Promise<void> {
    for await (const status of nc.status()) {
      if (status.type !== 'disconnect') continue;
      for (const reject of this.waiting) reject(new DisconnectedError('the connection to NATS broke'));
    }
  }
}

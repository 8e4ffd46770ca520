import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { followBucket } from '#libs/messaging';
import { Loop } from '#libs/platform';
import { BUCKETS } from '#proto';
import type { Connections } from './connections.js';

interface PresenceWatchParts {
  readonly nc: NatsConnection;
  readonly connections: Connections;
  readonly logger: Logger;
}

/** Shows connections at once that another gateway claims their device; without it their next renewal would find it. */
export class PresenceWatch extends Loop {
  readonly #parts: PresenceWatchParts;

  constructor(parts: PresenceWatchParts) {
    super();
    this.#parts = parts;
  }

  run(signal: AbortSignal): Promise<void> {
    const { nc, connections, logger } = this.#parts;
    return followBucket(nc, {
      bucket: BUCKETS.PRESENCE.bucket,
      look: () => ({
        take: ({ key, revision }) => {
          for (const connection of connections.of(key)) connection.look?.(revision);
        },
      }),
      report: (error) => logger.warn({ err: error }, 'presence is not watched, only renewed'),
      signal,
    }).over;
  }
}

import type { Logger } from 'pino';
import type { PresenceBook } from '../devices/index.js';
import type { Connections } from './connections.js';

export interface PresenceWatchParts {
  readonly book: PresenceBook;
  readonly connections: Connections;
  readonly logger: Logger;
}

const WATCH_AGAIN_MS = 1_000;

/** Shows connections at once that another gateway claims their device; without it their next renewal would find it. */
export class PresenceWatch {
  readonly #parts: PresenceWatchParts;
  #watching: { stop(): void } | undefined;
  #again: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(parts: PresenceWatchParts) {
    this.#parts = parts;
  }

  onApplicationBootstrap(): Promise<void> {
    return this.#watch();
  }

  beforeApplicationShutdown(): void {
    this.#stopped = true;
    clearTimeout(this.#again);
    this.#watching?.stop();
  }

  async #watch(): Promise<void> {
    const { book, connections, logger } = this.#parts;
    const later = (): void => this.#watchLater();
    try {
      const watching = await book.watch((deviceId, revision) => {
        for (const connection of connections.of(deviceId)) connection.look?.(revision);
      });
      this.#watching = watching;
      watching.ended.then(later, later);
    } catch (error) {
      logger.warn({ err: error }, 'presence is not watched, only renewed');
      this.#watchLater();
    }
  }

  #watchLater(): void {
    if (!this.#stopped) this.#again = setTimeout(() => void this.#watch(), WATCH_AGAIN_MS);
  }
}

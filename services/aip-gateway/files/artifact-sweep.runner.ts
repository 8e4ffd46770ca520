import { setTimeout as sleep } from 'node:timers/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { sweepArtifacts } from '#libs/messaging';
import { Loop, type Clock } from '#libs/platform';

const SWEEP_EVERY_MS = 60 * 60 * 1_000;
/** The first one comes when the start is over. */
const FIRST_AFTER_MS = 60_000;
/** An upload stores a piece at least once a minute, or is given up. */
const OLDER_THAN_MS = 60 * 60 * 1_000;

/** Takes away, every hour, what uploads have left behind whose gateway was killed. */
export class ArtifactSweep extends Loop {
  readonly #options: { readonly nc: NatsConnection; readonly clock: Clock; readonly logger: Logger };

  constructor(options: { readonly nc: NatsConnection; readonly clock: Clock; readonly logger: Logger }) {
    super();
    this.#options = options;
  }

  async run(signal: AbortSignal): Promise<void> {
    for (let waitMs = FIRST_AFTER_MS; ; waitMs = SWEEP_EVERY_MS) {
      await sleep(waitMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      await this.#sweep();
    }
  }

  /** Never rejects: what is not swept now is swept an hour later. */
  async #sweep(): Promise<void> {
    const { nc, clock, logger } = this.#options;
    try {
      const uploads = await sweepArtifacts(nc, { now: () => clock.now(), olderThanMs: OLDER_THAN_MS });
      if (uploads > 0) logger.info({ uploads }, 'pieces of artifacts that never came about are taken away');
    } catch (error) {
      logger.warn({ err: error }, 'the store of artifacts could not be swept');
    }
  }
}

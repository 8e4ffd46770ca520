import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { doubledMs } from '#libs/backoff';

const WAIT = { msMin: 200, msMax: 2_000 };
/** The same failure is logged again after this many tries, so that a long outage is a few lines. */
const LOG_EVERY = 30;

export interface RetryOptions {
  readonly what: string;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** True for a failure that no waiting repairs: it is thrown. */
  readonly fatal?: (error: unknown) => boolean;
}

/** Tries until it works; the wait doubles up to 2 s. Ends by throwing only when aborted or fatal. */
export async function untilItWorks<T>(attempt: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { what, logger, signal, fatal } = options;
  let lastMessage: string | undefined;
  for (let tries = 1; ; tries++) {
    signal.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      if (signal.aborted || fatal?.(error) === true) throw error;
      const message = error instanceof Error ? error.message : String(error);
      if (message !== lastMessage || tries % LOG_EVERY === 0)
        logger.warn({ what, tries, reason: message }, 'not there yet');
      lastMessage = message;
    }
    await sleep(doubledMs(WAIT, tries), undefined, { signal });
  }
}

import type { Logger } from 'pino';

/** Stop intake, drain, close: all within this, or the process ends with status 1 and its replica's work is taken over. */
const SHUTDOWN_MS_MAX = 10_000;
const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/** The first signal closes in order and exits 0; the second one exits at once. */
export function onStopSignal(logger: Logger, close: () => Promise<void>): void {
  let closing = false;
  const stop = async (signal: string): Promise<void> => {
    if (closing) process.exit(1);
    closing = true;
    logger.info({ signal }, 'stopping');
    setTimeout(() => {
      logger.error({ limitMs: SHUTDOWN_MS_MAX }, 'did not stop in time');
      process.exit(1);
    }, SHUTDOWN_MS_MAX).unref();
    await close();
    logger.info('stopped');
    process.exit(0);
  };
  for (const signal of SIGNALS) process.on(signal, () => void stop(signal));
}

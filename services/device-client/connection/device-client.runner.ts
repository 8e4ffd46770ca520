// No Nest here: the client runs on every device, also on small ones. Without it the process starts in a fraction of the time
// and memory, and there is nothing to inject that `openDevice` does not show on one screen.
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { lockDataDir } from '../machine/index.js';
import { createDeviceLogger } from './device-logger.adapter.js';
import { openDevice, type OpenDeviceOptions } from './open-device.runner.js';

export interface DeviceClientOptions extends Omit<OpenDeviceOptions, 'logger' | 'onFatal'> {
  readonly logLevel: string;
}

/** What runs when the client is told to stop may go on for this long. */
const DRAIN_MS = 3_000;
const METRICS_EVERY_MS = 20_000;

/** Runs the device client until SIGTERM or SIGINT; resolves with the exit code. */
export async function runDeviceClient(options: DeviceClientOptions): Promise<number> {
  const { dataDir, secrets, credentials } = options;
  const logger = createDeviceLogger(options.logLevel, secrets);
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await lockDataDir(dataDir);
  const ending = new AbortController();
  let exitCode = 0;
  const onFatal = (error: unknown): void => {
    logger.fatal({ reason: error instanceof Error ? error.message : String(error) }, 'the journal cannot be used');
    exitCode = 1;
    ending.abort();
  };
  const { endpoint, commands, foreign, metrics, close } = await openDevice({ ...options, logger, onFatal });

  // The usual way to say that files were written anew; they are read for every command anyway.
  if (secrets !== undefined) process.on('SIGHUP', () => void secrets.refresh());
  process.once('SIGTERM', () => ending.abort());
  process.once('SIGINT', () => ending.abort());
  const lost = new AbortController();
  const measuring = setInterval(() => void metrics.refresh(), METRICS_EVERY_MS);
  const linked = endpoint.run(lost.signal);
  if (!ending.signal.aborted) await once(ending.signal, 'abort');
  // Results of what still ends in time are sent; the others are in the journal.
  await Promise.all([commands.drain(DRAIN_MS), foreign.drain()]);
  lost.abort();
  clearInterval(measuring);
  credentials.stop();
  await linked;
  await close();
  logger.info({ exitCode }, 'stopped');
  return exitCode;
}

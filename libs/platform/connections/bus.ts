import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { checkServer, connectBus, CannotStoreError, StoreWatch, UnsafeServerError } from '#libs/messaging';
import { untilItWorks } from './backoff.js';
import { ConfigError, type ServiceConfig } from '../config/index.js';

/** Draining sends what is buffered and lets handlers end; a server that is gone must not hold the exit. */
const DRAIN_MS_MAX = 3_000;

export interface Bus {
  readonly nc: NatsConnection;
  /** Throws unless the connection is up and JetStream answers. */
  check(): Promise<Record<string, unknown>>;
  /** Throws while the server cannot store what is sent; knows nothing of it without the server's monitoring. */
  checkStore(): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}

export interface BusOptions {
  readonly service: string;
  readonly config: ServiceConfig;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** Connects, however long the server takes to appear, and refuses a server that does not keep what it acknowledges. */
export async function openBus({ service, config, logger, signal }: BusOptions): Promise<Bus> {
  const { url, seedFile, monitorUrl, allowUnsafeLog } = config.nats;
  const trying = { what: 'nats', logger, signal };
  logger.info({ server: new URL(url).host }, 'nats: connecting');
  const nc = await untilItWorks(
    () => connectBus({ url, seedFile, name: `${service}.${config.instance}`, inboxPrefix: `_INBOX_${service}` }),
    trying,
  );
  const fatal = (error: unknown) => error instanceof UnsafeServerError;
  await untilItWorks(() => checkServer(nc, { monitorUrl, allowUnsafeLog }), { ...trying, fatal }).catch(
    async (error: unknown) => {
      await nc.close();
      throw error instanceof UnsafeServerError ? new ConfigError(error.message, { cause: error }) : error;
    },
  );
  const connected = watch(nc, logger);
  const store = StoreWatch.of(nc);
  if (monitorUrl !== undefined) store.asks(monitorUrl);
  return {
    nc,
    check: async () => {
      if (!connected()) throw new Error('not connected');
      const { streams } = await (await jetstreamManager(nc, { checkAPI: false })).getAccountInfo();
      return { streams };
    },
    checkStore: async () => {
      // What nobody can see now is not down: whoever sends finds out.
      const { fault, usedBytes, limitBytes } = (await store.look().catch(() => undefined)) ?? {};
      if (fault !== undefined) throw new CannotStoreError(fault);
      return { usedBytes, limitBytes };
    },
    close: () => (connected() ? drain(nc) : nc.close()),
  };
}

/** Logs the life of the connection, one line per change, and knows whether it is up. */
function watch(nc: NatsConnection, logger: Logger): () => boolean {
  let up = true;
  const follow = async (): Promise<void> => {
    for await (const status of nc.status()) {
      if (status.type === 'disconnect') {
        up = false;
        logger.warn('nats: disconnected');
      } else if (status.type === 'reconnect') {
        up = true;
        logger.info('nats: connected again');
      } else if (status.type === 'error') {
        logger.warn({ reason: status.error.message }, 'nats: error');
      }
    }
  };
  void follow();
  return () => up && !nc.isClosed();
}

async function drain(nc: NatsConnection): Promise<void> {
  if (nc.isClosed()) return;
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, DRAIN_MS_MAX);
  await Promise.race([nc.drain().catch(() => nc.close()), late]);
  clearTimeout(timer);
  if (!nc.isClosed()) await nc.close();
}

import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { z } from 'zod';
import { readMonitor } from './monitor.adapter.js';

/** JetStream of nats-server 2.12: expected sequences over filters, schedules, time to live per message. Older ones ignore these silently. */
const API_LEVEL_MIN = 2;

/** The server would accept our messages and not keep our promises. */
export class UnsafeServerError extends Error {
  override readonly name = 'UnsafeServerError';
}

export interface ServerCheckOptions {
  /** The server's HTTP monitoring, `http://127.0.0.1:8222`; only there it says whether it fsyncs. */
  readonly monitorUrl?: string | undefined;
  /** `ORRERY_ALLOW_UNSAFE_LOG=1`: run on a log that a power cut may shorten. */
  readonly allowUnsafeLog?: boolean;
}

const Jsz = z.looseObject({
  server_id: z.string(),
  config: z.looseObject({ sync_always: z.boolean().optional() }),
});

/** Refuses a server that is too old, or whose log is not fsynced before it acknowledges. */
export async function checkServer(nc: NatsConnection, options: ServerCheckOptions = {}): Promise<void> {
  const jsm = await jetstreamManager(nc, { checkAPI: false });
  const { api } = await jsm.getAccountInfo();
  const level = 'level' in api && typeof api.level === 'number' ? api.level : 0;
  if (level < API_LEVEL_MIN) {
    const version = nc.info?.version ?? 'unknown';
    throw new UnsafeServerError(`nats-server ${version} is too old: 2.12 or newer is needed.`);
  }
  if (options.allowUnsafeLog === true) return;
  const remedy = 'set ORRERY_ALLOW_UNSAFE_LOG=1 to run all the same';
  if (options.monitorUrl === undefined) {
    throw new UnsafeServerError(
      `Nobody can tell whether the log is fsynced: give the server's monitoring as ORRERY_NATS_MONITOR_URL, or ${remedy}.`,
    );
  }
  const { server_id: serverId, config } = await configured(options.monitorUrl);
  // In a cluster the monitored server may be another node; they are configured alike.
  if (nc.info?.cluster === undefined && serverId !== nc.info?.server_id) {
    throw new UnsafeServerError(
      `The monitoring at ${options.monitorUrl} belongs to another server than the connection.`,
    );
  }
  if (config.sync_always !== true) {
    throw new UnsafeServerError(
      `nats-server acknowledges before it has fsynced: set "sync_interval: always" in its jetstream block, or ${remedy}.`,
    );
  }
}

async function configured(monitorUrl: string): Promise<z.infer<typeof Jsz>> {
  try {
    return Jsz.parse(await readMonitor(monitorUrl, '/jsz?config=true'));
  } catch (cause) {
    const { origin } = new URL(monitorUrl);
    throw new UnsafeServerError(`The monitoring of nats-server at ${origin} does not answer.`, { cause });
  }
}

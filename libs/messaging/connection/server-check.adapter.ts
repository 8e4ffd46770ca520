import * as http from 'node:http';
import * as https from 'node:https';
import { json } from 'node:stream/consumers';
import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { z } from 'zod';

/** JetStream of nats-server 2.12: expected sequences over filters, schedules, time to live per message. Older ones ignore these silently. */
const API_LEVEL_MIN = 2;
const MONITOR_TIMEOUT_MS = 3_000;

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
  const { server_id: serverId, config } = await readMonitor(options.monitorUrl);
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

async function readMonitor(monitorUrl: string): Promise<z.infer<typeof Jsz>> {
  const url = new URL('/jsz?config=true', monitorUrl);
  try {
    return Jsz.parse(await json(await answerOf(url)));
  } catch (cause) {
    throw new UnsafeServerError(`The monitoring of nats-server at ${url.origin} does not answer.`, { cause });
  }
}

/** By Node's older client: `fetch` would be loaded for this one question at the start of every service. */
function answerOf(url: URL): Promise<http.IncomingMessage> {
  const { get } = url.protocol === 'https:' ? https : http;
  return new Promise((resolve, reject) => {
    get(url, { signal: AbortSignal.timeout(MONITOR_TIMEOUT_MS) }, resolve).once('error', reject);
  });
}

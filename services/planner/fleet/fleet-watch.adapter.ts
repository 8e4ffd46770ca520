import { setTimeout as sleep } from 'node:timers/promises';
import { Kvm, type KvWatchEntry } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { AgentProfile, BUCKETS, type DeviceId } from '#proto';
import type { PlanningFleet } from './fleet.js';

const WATCH_AGAIN_MS = 500;

export interface FleetWatch {
  stop(): Promise<void>;
}

/** Keeps the fleet up to date with the registry's bucket. Resolves when every profile that is there has been seen. */
export async function watchFleet(nc: NatsConnection, fleet: PlanningFleet, logger: Logger): Promise<FleetWatch> {
  const stopped = new AbortController();
  const { signal } = stopped;
  const { promise: loaded, resolve } = Promise.withResolvers<void>();
  const first = watch({ nc, fleet, logger, signal }, resolve);
  const broken = first.then(() => {
    throw new Error('the watch of the profiles ended before every profile was read');
  });
  await Promise.race([loaded, broken]);
  broken.catch(() => undefined);
  const following = follow({ nc, fleet, logger, signal }, first);
  return {
    stop: () => {
      stopped.abort();
      return following;
    },
  };
}

interface Watched {
  readonly nc: NatsConnection;
  readonly fleet: PlanningFleet;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** Begins anew when a watch ends; meanwhile the profiles stay as they were. */
async function follow(watched: Watched, first: Promise<void>): Promise<void> {
  const { nc, logger, signal } = watched;
  let watching = first;
  while (!signal.aborted && !nc.isClosed()) {
    await watching.catch((error: unknown) => logger.warn({ err: error }, 'the profiles cannot be followed'));
    await sleep(WATCH_AGAIN_MS, undefined, { signal }).catch(() => undefined);
    if (!signal.aborted && !nc.isClosed()) watching = watch(watched, () => undefined);
  }
  await watching.catch(() => undefined);
}

/** One look at the whole bucket and at what changes then, also what changed while the connection was down. */
async function watch({ nc, fleet, logger, signal }: Watched, seen: () => void): Promise<void> {
  const bucket = await new Kvm(nc).open(BUCKETS.AGENT_PROFILES.bucket, { bindOnly: true });
  const entries = await bucket.watch();
  const stop = (): void => entries.stop();
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  const devices = new Map<DeviceId, AgentProfile>();
  const complete = (): void => {
    fleet.replace(devices);
    seen();
  };
  try {
    if ((await bucket.status()).values === 0) complete();
    for await (const entry of entries) {
      take(devices, entry, logger);
      if (entry.delta === 0) complete();
    }
  } finally {
    signal.removeEventListener('abort', stop);
    stop();
  }
}

function take(devices: Map<DeviceId, AgentProfile>, entry: KvWatchEntry, logger: Logger): void {
  if (entry.operation !== 'PUT') return void devices.delete(entry.key);
  const parsed = AgentProfile.safeParse(readJson(entry));
  if (parsed.success) devices.set(entry.key, parsed.data);
  else logger.warn({ deviceId: entry.key }, 'a profile cannot be read and is passed over');
}

function readJson(entry: KvWatchEntry): unknown {
  try {
    return entry.json();
  } catch {
    return undefined;
  }
}

import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { followBucket, entryValue, type BucketLook } from '#libs/messaging';
import { AgentProfile, BUCKETS, type DeviceId } from '#proto';
import type { PlanningFleet } from './fleet.js';

export interface FleetWatch {
  end(): Promise<void>;
}

/**
 * Keeps the fleet up to date with the registry's bucket; while that cannot be followed, the profiles stay as they were. Resolves
 * when every profile that is there has been seen.
 */
export async function watchFleet(nc: NatsConnection, fleet: PlanningFleet, logger: Logger): Promise<FleetWatch> {
  const stopped = new AbortController();
  const { loaded, over } = followBucket(nc, {
    bucket: BUCKETS.AGENT_PROFILES.bucket,
    look: () => lookAt(fleet, logger),
    report: (error) => logger.warn({ err: error }, 'the profiles cannot be followed'),
    signal: stopped.signal,
  });
  const end = (): Promise<void> => {
    stopped.abort();
    return over;
  };
  await loaded.catch(async (error: unknown) => {
    await end();
    throw error;
  });
  return { end };
}

function lookAt(fleet: PlanningFleet, logger: Logger): BucketLook {
  const devices = new Map<DeviceId, AgentProfile>();
  return {
    take: (entry) => {
      if (entry.operation !== 'PUT') return void devices.delete(entry.key);
      const profile = entryValue(entry, AgentProfile);
      if (profile === undefined)
        return logger.warn({ deviceId: entry.key }, 'a profile cannot be read and is passed over');
      devices.set(entry.key, profile);
    },
    complete: () => fleet.replace(devices),
  };
}

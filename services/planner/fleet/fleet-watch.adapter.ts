import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { followBucket, entryValue, type BucketLook, type Following } from '#libs/messaging';
import { AgentProfile, BUCKETS, type DeviceId } from '#proto';
import type { PlanningFleet } from './fleet.js';

/** Keeps the fleet up to date with the registry's bucket; while that cannot be followed, the profiles stay as they were. */
export class FleetWatch {
  readonly #stopped = new AbortController();
  readonly #follow: () => Following;
  #following: Following | undefined;

  constructor(nc: NatsConnection, fleet: PlanningFleet, logger: Logger) {
    const { signal } = this.#stopped;
    const report = (error: unknown): void => logger.warn({ err: error }, 'the profiles cannot be followed');
    const { bucket } = BUCKETS.AGENT_PROFILES;
    this.#follow = () => followBucket(nc, { bucket, look: () => lookAt(fleet, logger), report, signal });
  }

  /** Resolves when every profile that is there has been seen. */
  begin(): Promise<void> {
    this.#following = this.#follow();
    return this.#following.loaded;
  }

  async end(): Promise<void> {
    this.#stopped.abort();
    await this.#following?.over;
  }
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

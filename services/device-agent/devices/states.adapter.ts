import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { followBucket, entryValue } from '#libs/messaging';
import { Loop } from '#libs/platform';
import { AgentProfile, BUCKETS, type DeviceId } from '#proto';
import { deviceStateOf, type DeviceState } from './session.js';

/** Called for each profile that is read, with what was known before of the device's session. */
type Told = (state: DeviceState, before: DeviceState | undefined) => void;

/** What AGENT_PROFILES says, where the registry writes which sessions it declared lost. */
export class DeviceStates extends Loop {
  readonly #nc: NatsConnection;
  readonly #logger: Logger;
  readonly #profiles = new Map<DeviceId, AgentProfile>();
  #told: Told = () => undefined;

  constructor(nc: NatsConnection, logger: Logger) {
    super();
    this.#nc = nc;
    this.#logger = logger;
  }

  /** To be called before it begins. */
  onChange(told: Told): void {
    this.#told = told;
  }

  /** Undefined before a profile of the device with a session was seen. */
  get(deviceId: DeviceId): DeviceState | undefined {
    const profile = this.#profiles.get(deviceId);
    return profile && deviceStateOf(profile);
  }

  /** The whole profile of a device that was connected at least once. */
  profile(deviceId: DeviceId): AgentProfile | undefined {
    return this.#profiles.get(deviceId);
  }

  run(signal: AbortSignal): Promise<void> {
    return followBucket(this.#nc, {
      bucket: BUCKETS.AGENT_PROFILES.bucket,
      look: () => ({
        take: (entry) => {
          const profile = entryValue(entry, AgentProfile);
          if (profile !== undefined) this.#take(profile);
          else if (entry.operation === 'PUT') this.#logger.warn({ deviceId: entry.key }, 'a profile cannot be read');
        },
      }),
      report: (error) => this.#logger.warn({ err: error }, 'the profiles cannot be followed'),
      signal,
    }).over;
  }

  #take(profile: AgentProfile): void {
    const state = deviceStateOf(profile);
    if (state === undefined) return;
    const before = this.get(profile.deviceId);
    this.#profiles.set(profile.deviceId, profile);
    this.#told(state, before);
  }
}

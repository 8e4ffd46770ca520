import type { AgentProfile, DeviceId } from '#proto';

/** Port: a projection of the devices. It can be rebuilt from FLEET at any time and never goes back to an older revision. */
export interface ProfileStore {
  /**
   * Again, late or twice: the newest revision stays. `newest` is asked after what is stored was read, so that what somebody
   * else knew when he stored that is known by then.
   */
  write(deviceId: DeviceId, newest: () => Promise<AgentProfile>): Promise<void>;
  remove(deviceId: DeviceId): Promise<void>;
  list(): Promise<DeviceId[]>;
}

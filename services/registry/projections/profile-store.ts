import type { AgentProfile, DeviceId } from '#proto';

export type Newest = (stored?: AgentProfile) => Promise<AgentProfile>;

/** Port: a projection of the devices. It can be rebuilt from FLEET at any time and never goes back to an older revision. */
export interface ProfileStore {
  /**
   * Again, late or twice: the newest revision stays. `newest` is asked after what is stored was read, so that what somebody
   * else knew when he stored that is known by then; it gets what is stored, where the store knows.
   */
  write(deviceId: DeviceId, newest: Newest): Promise<void>;
  remove(deviceId: DeviceId): Promise<void>;
  list(): Promise<DeviceId[]>;
}

import { Kvm, type KV } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import type { z } from 'zod';
import { ConnectionWatch } from '#libs/messaging';
import { AgentProfile, BUCKETS, DeviceId, Presence, type Json } from '#proto';
import { deviceInfoOf } from './device-info.js';

/** What is known of devices, at whatever gateway they are. Reads only. */
export class DeviceDirectory {
  readonly #connection: ConnectionWatch;
  readonly #presence: KV;
  readonly #profiles: KV;

  private constructor(connection: ConnectionWatch, presence: KV, profiles: KV) {
    this.#connection = connection;
    this.#presence = presence;
    this.#profiles = profiles;
  }

  static async open(nc: NatsConnection): Promise<DeviceDirectory> {
    const kvm = new Kvm(nc);
    const open = (bucket: string): Promise<KV> => kvm.open(bucket, { bindOnly: true });
    const { PRESENCE, AGENT_PROFILES } = BUCKETS;
    return new DeviceDirectory(ConnectionWatch.of(nc), await open(PRESENCE.bucket), await open(AGENT_PROFILES.bucket));
  }

  /** Whether some gateway holds a session of the device now. Throws when the bus does not answer. */
  async isConnected(deviceId: string): Promise<boolean> {
    return (await this.#read(this.#presence, deviceId, Presence)) !== null;
  }

  /** As UFO's clients read it; null when nothing is known. Throws when the bus does not answer. */
  async info(deviceId: string): Promise<Json> {
    const profile = await this.#read(this.#profiles, deviceId, AgentProfile);
    const presence = await this.#read(this.#presence, deviceId, Presence);
    return deviceInfoOf(deviceId, { profile, telemetry: presence?.telemetry ?? null });
  }

  async #read<T>(bucket: KV, deviceId: string, schema: z.ZodType<T>): Promise<T | null> {
    // What is no id is no key either.
    if (!DeviceId.safeParse(deviceId).success) return null;
    const entry = await this.#connection.request(() => bucket.get(deviceId));
    if (entry?.operation !== 'PUT') return null;
    const parsed = schema.safeParse(entry.json());
    return parsed.success ? parsed.data : null;
  }
}

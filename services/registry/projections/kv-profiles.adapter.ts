import { jetstream } from '@nats-io/jetstream';
import { Kvm, type KV } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { AgentProfile, BUCKETS, type DeviceId } from '#proto';
import { OVERTAKEN, uncontended } from '#libs/event-log';
import type { Newest, ProfileStore } from './profile-store.js';
import { entryValue, isWrongSequence, readBucket } from '#libs/messaging';

/** AGENT_PROFILES: one key per device. An older revision never replaces a newer one, whichever replica writes. */
export class KvProfiles implements ProfileStore {
  readonly #nc: NatsConnection;
  #bucket: Promise<KV> | undefined;

  constructor(nc: NatsConnection) {
    this.#nc = nc;
  }

  /** Of replicas that write at the same time one is first, and the others find nothing left to do. */
  write(deviceId: DeviceId, newest: Newest): Promise<void> {
    return uncontended(`the profile of ${deviceId}`, async () => {
      try {
        return await this.#compareAndWrite(deviceId, newest);
      } catch (error) {
        if (isWrongSequence(error)) return OVERTAKEN;
        throw error;
      }
    });
  }

  async #compareAndWrite(deviceId: DeviceId, newest: Newest): Promise<void> {
    const kv = await this.#open();
    const before = await kv.get(deviceId);
    const stored = before === null ? undefined : entryValue(before, AgentProfile);
    const profile = await newest(stored);
    const value = JSON.stringify(profile);
    if (before === null) return void (await kv.create(deviceId, value));
    if (stored !== undefined && stored.revision > profile.revision) return;
    // The same revision with other content: newer metrics, the whole fleet was held or released, or older code merged it.
    if (before.operation === 'PUT' && before.string() === value) return;
    await kv.update(deviceId, value, before.revision);
  }

  async remove(deviceId: DeviceId): Promise<void> {
    await (await this.#open()).purge(deviceId);
  }

  async list(): Promise<DeviceId[]> {
    return (await readBucket(this.#nc, BUCKETS.AGENT_PROFILES.bucket)).map(({ key }) => key);
  }

  async read(deviceId: DeviceId): Promise<AgentProfile | undefined> {
    const entry = await (await this.#open()).get(deviceId);
    return entry === null ? undefined : entryValue(entry, AgentProfile);
  }

  /** Read from the leader, or the compare would fail on a value that is already gone. */
  #open(): Promise<KV> {
    this.#bucket ??= new Kvm(jetstream(this.#nc, { checkAPI: false })).open(BUCKETS.AGENT_PROFILES.bucket, {
      allow_direct: false,
    });
    return this.#bucket;
  }
}

import type { NatsConnection } from '@nats-io/transport-node';
import { AgentProfile, BUCKETS } from '#proto';
import { KvRevisions } from './kv-revisions.adapter.js';
import type { ProfileStore } from './profile-store.js';

/** AGENT_PROFILES: one key per device. */
export class KvProfiles extends KvRevisions<AgentProfile> implements ProfileStore {
  constructor(nc: NatsConnection) {
    super(nc, { bucket: BUCKETS.AGENT_PROFILES.bucket, schema: AgentProfile });
  }
}

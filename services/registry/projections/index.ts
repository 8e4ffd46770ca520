/**
 * What others see of FLEET: profiles in KV and in Postgres, revoked grants. A projection is written from the state and never read
 * for a decision.
 */
export { DeviceRows } from './device-rows.adapter.js';
export { DeviceEntity } from './device.entity.js';
export { DirtyKeys } from './dirty-keys.runner.js';
export { KvProfiles } from './kv-profiles.adapter.js';
export { KvRevokedGrants } from './kv-revoked-grants.adapter.js';
export type { ProfileStore } from './profile-store.js';
export { listed, profileOf } from './profile.js';
export { ProfilesProjector } from './profiles.projector.js';
export type { ProjectorOptions } from './profiles.projector.js';
export { RevokedGrantsProjector } from './revoked-grants.projector.js';

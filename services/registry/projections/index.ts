/**
 * What others see of FLEET: profiles in KV and in Postgres, revoked grants. A projection is written from the state and never read
 * for a decision.
 */
export * from './device-rows.adapter.js';
export * from './device.entity.js';
export * from './dirty-keys.runner.js';
export * from './kv-profiles.adapter.js';
export * from './kv-revisions.adapter.js';
export * from './kv-revoked-grants.adapter.js';
export type { ProfileStore } from './profile-store.js';
export * from './profile.js';
export { ProfilesProjector, type ProjectorOptions } from './profiles.projector.js';
export * from './revoked-grants.projector.js';

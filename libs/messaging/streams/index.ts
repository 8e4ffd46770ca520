/**
 * What has to be there before anybody begins: streams, durables, buckets and their limits; and the timers that are stored in one
 * of them.
 */
export * from './provision.adapter.js';
export { allSettings, driftOf } from './stream-config.js';
export * from './timers.adapter.js';

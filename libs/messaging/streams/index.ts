/**
 * What has to be there before anybody begins: streams, durables, buckets and their limits; how streams are read without a
 * consumer; and the timers that are stored in one of them.
 */
export * from './provision.adapter.js';
export * from './read-stream.adapter.js';
export * from './stored-page.adapter.js';
export { allStreamSettings, driftOf, driftText, durableDrift } from './stream-config.js';
export * from './timers.adapter.js';

/**
 * The connection to the server: made, watched, and checked for whether it keeps what it acknowledges. Nothing here knows a
 * stream.
 */
export * from './bus.client.js';
export * from './clock.js';
export * from './connection-watch.adapter.js';
export * from './disk.adapter.js';
export { greetingOf } from './greeting.adapter.js';
export { hearingTime } from './hearing-time.adapter.js';
export * from './server-check.adapter.js';
export * from './store.adapter.js';
export * from './store-watch.adapter.js';
export * from './wrong-sequence.adapter.js';
export * from './asked.js';

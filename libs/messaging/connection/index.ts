/**
 * The connection to the server: made, watched, and checked for whether it keeps what it acknowledges. Nothing here knows a
 * stream.
 */
export { systemTime } from './clock.js';
export type { Clock } from './clock.js';
export { ConnectionWatch } from './connection-watch.adapter.js';

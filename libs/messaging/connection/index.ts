/**
 * The connection to the server: made, watched, and checked for whether it keeps what it acknowledges. Nothing here knows a
 * stream.
 */
export { systemClock } from './clock.js';
export type { Clock } from './clock.js';
export { ConnectionWatch } from './connection-watch.adapter.js';
export { isWrongSequence } from './wrong-sequence.adapter.js';

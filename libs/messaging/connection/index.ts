/**
 * The connection to the server: made, watched, and checked for whether it keeps what it acknowledges. Nothing here knows a
 * stream.
 */
export { BusError, connectBus, type BusConfig } from './bus.client.js';
export { systemClock, type Clock } from './clock.js';
export { ConnectionWatch, DisconnectedError } from './connection-watch.adapter.js';
export { UnsafeServerError, checkServer, type ServerCheckOptions } from './server-check.adapter.js';
export { isWrongSequence } from './wrong-sequence.adapter.js';

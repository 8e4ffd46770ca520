/**
 * The way to FLEET and back: whoever decides something loads, decides and appends here, and what any replica appended arrives
 * here. The decisions are in `fleet`.
 */
export { DueTimers } from './due.consumer.js';
export { FleetConsumer } from './fleet.consumer.js';
export { FleetHandler } from './fleet.handler.js';
export { IdentityHandler } from './identity.handler.js';

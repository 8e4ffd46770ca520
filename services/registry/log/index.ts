/**
 * The way to FLEET and back: the replica that decides something loads, decides and appends here, and what any replica appended arrives
 * here. The decisions are in `fleet`.
 */
export * from './due.consumer.js';
export * from './fleet.consumer.js';
export * from './fleet.handler.js';
export * from './identity.handler.js';
export * from './log-follower.adapter.js';

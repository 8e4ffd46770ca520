/**
 * The embedded system as one thing: its keys, stores, services and devices brought up together and stopped together. The words
 * that a person has for that are in `commands/system`.
 */
export * from './door.client.js';
export * from './door.gateway.js';
export * from './detached.runner.js';
export { busUsersOf } from './keys.adapter.js';
export { launchOf } from './launch.runner.js';
export * from './system.runner.js';

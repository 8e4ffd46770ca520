/**
 * The computer that the client runs on: what it is, how it fares, and that one client at a time uses a data directory.
 */
export * from './data-dir-lock.adapter.js';
export { findHardware, type Hardware } from './hardware.adapter.js';
export * from './machine.adapter.js';
export * from './metrics.adapter.js';

/**
 * The computer that the client runs on: what it is, how it fares, and that one client at a time uses a data directory.
 */
export { DataDirInUse, lockDataDir } from './data-dir-lock.adapter.js';
export { describeMachine } from './machine.adapter.js';
export type { Machine } from './machine.adapter.js';
export { MachineMetrics } from './metrics.adapter.js';

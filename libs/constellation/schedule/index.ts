/**
 * What starts next and on which device, what no longer can, who waits for a device, and when the run is looked at again. Only facts
 * about tasks are made here; rounds, deadlines and the end of a run are decided by who calls.
 */
export * from './circumstances.js';
export { dueWaits, noteWaits, waitText, waitTriggers, whyNone } from './device-wait.js';
export * from './doomed.js';
export * from './held.js';
export * from './task-failed.js';
export * from './ready.js';
export { filled, filledCheck } from './start.js';
export * from './wake-up.js';

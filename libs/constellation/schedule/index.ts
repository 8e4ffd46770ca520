/**
 * What starts next and on which device, what no longer can, who waits for a device, and when the run is looked at again. Only facts
 * about tasks are made here; rounds, deadlines and the end of a run are decided by who calls.
 */
export { type Circumstances, deadlinePassed } from './circumstances.js';
export { dueWaits, noteWaits, waitText, waitTriggers } from './device-wait.js';
export { type Doomed, endDoomed } from './doomed.js';
export { ANY_DEVICE, NOTHING_STARTED, type Started, startReady } from './ready.js';
export { wakeAt } from './wake-up.js';

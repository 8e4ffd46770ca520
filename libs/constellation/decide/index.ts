/**
 * From an input and the state to new facts: the one place where it is decided what happens next in a run. Nothing here looks at a
 * clock, a bus or a file.
 */
export { dueWaits, waitText } from './device-wait.js';
export { isHeld } from './held.js';

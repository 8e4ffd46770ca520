/**
 * From facts to state: one event after the other, forks, and what must hold after each. No decision is made here.
 */
export { RunDraft, assertNever, foldRun } from './evolve.js';

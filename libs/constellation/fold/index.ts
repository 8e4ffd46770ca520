/**
 * From facts to state: one event after the other, forks, and what must hold after each. No decision is made here.
 */
export { RunDraft, evolve, evolveCommit, foldEvents, foldRun, withVerbs } from './evolve.js';
export { forkedFrom } from './fork.js';
export { checkBudget, checkEdit, checkInvariants } from './invariants.js';

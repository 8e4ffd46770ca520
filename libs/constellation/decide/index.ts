/**
 * From an input and the state to new facts: the one place where it is decided what happens next in a run. Nothing here looks at a
 * clock, a bus or a file.
 */
export type { PersonsWord } from './approvals.js';
export type { Control } from './control.js';
export * from './decide.js';
export * from './input.js';

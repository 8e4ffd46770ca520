/** From facts to state: one event after the other, forks, and what must hold after each. No decision is made here. */
export * from './evolve.js';
export { forkedFrom } from './fork.js';
export * from './invariants.js';

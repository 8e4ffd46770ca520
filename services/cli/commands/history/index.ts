/**
 * What is recorded of a run: shown, replayed, checked, compared, taken home. Nothing here changes a run.
 */
export { defineHistory } from './history.command.js';
export { definePlans } from './plans.command.js';

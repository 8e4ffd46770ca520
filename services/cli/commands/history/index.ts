/** What is recorded of a run: shown, replayed, checked, compared, taken home. Nothing here changes a run. */
export * from './history.command.js';
export * from './plans.command.js';

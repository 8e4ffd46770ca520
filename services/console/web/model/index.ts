/** What is shown, folded from what is recorded. Pure: the same commits give the same picture. */
export * from './bars.js';
export * from './changes.js';
export * from './json-text.js';
export * from './plan-sky.js';
export * from './playing.js';
export * from './run-filters.js';
export * from './run-record.js';
export * from './runbook-form.js';
export * from './search-filters.js';
export * from './sizes.js';
export * from './spans.js';
export * from './stars.js';
export * from './task-files.js';
export * from './observable.js';

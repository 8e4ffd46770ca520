/**
 * What a command prints: live pieces, the head and the tail that are kept, whole files, and what fits into an outcome.
 */
export * from './fit.js';
export * from './head-tail.js';
export * from './live-output.runner.js';
export * from './output-files.js';
export * from './output-spool.adapter.js';

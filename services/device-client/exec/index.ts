/**
 * Running a shell command: its environment, its limits and sandbox, its processes to the last one, its outcome. Whether it may
 * run is decided before.
 */
export * from './command-limits.js';
export * from './exec-cli.runner.js';
export * from './exec-cli.js';
export * from './exec-settings.js';
export * from './outcome.js';
export * from './stdin-file.js';
export * from './sys-info.adapter.js';
export * from './wall-hit.adapter.js';

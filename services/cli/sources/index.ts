/** Where the commands read runs: the log, or a file that was exported. Both give the same records; nothing is printed here. */
export * from './log.client.js';
export * from './run-history.js';
export * from './run-name.client.js';
export * from './sources.client.js';

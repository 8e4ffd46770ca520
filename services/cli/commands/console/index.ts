/** The console in a browser: a link that logs in once. */
export * from './console.command.js';

/** What the parts of the embedded system have logged, out of their files. */
export * from './logs.command.js';

/** What the command policy would do with a command line. Mostly without any system. */
export * from './policy.command.js';

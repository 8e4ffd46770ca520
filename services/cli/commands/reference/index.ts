/** What the table of commands gives besides the help: completion for shells, and the manual. Everything here is made of that table alone. */
export * from './reference.command.js';

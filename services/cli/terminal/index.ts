/**
 * What every command says and how: text of others made harmless, colours, tables, errors with their exit codes, the words that
 * all commands share. Light, for it is loaded at every start.
 */
export * from './clean.js';
export * from './command-definition.js';
export * from './duration.js';
export * from './errors.js';
export * from './exit-codes.js';
export * from './local-time.js';
export * from './program-words.js';
export * from './said-by.js';
export * from './style.js';
export * from './table.js';
export * from './tell.js';
export * from './terminal.adapter.js';
export * from './typed-again.js';
export { printJson, type CliContext, type Terminal } from './terminal.js';

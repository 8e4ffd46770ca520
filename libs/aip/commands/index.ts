/**
 * A command on its way to a device and its outcome on the way back: the table of the gateway, and the words for both. Nothing
 * here runs one.
 */
export { isOwnWord } from './command-answers.js';
export type { OpenAtDevice, TableEffect } from './command-effects.js';
export * from './command-message.js';
export * from './foreign-dialect.js';
export * from './command-table.js';
export * from './outcome.js';

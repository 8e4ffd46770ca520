/**
 * From shell text to every command that it can start. Text that is not understood is said to be so; no program is known here by
 * its name.
 */
export * from './bash-grammar.adapter.js';
export * from './read-script.js';
export type { ShellParser } from './syntax.js';

/**
 * What every command says and how: text of others made harmless, colours, tables, errors with their exit codes, the words that
 * all commands share. Light, for it is loaded at every start.
 */
export { cleanLine, cleanText, clipToWidth } from './clean.js';
export { RUN_OR_FILE, commaList, define, wholeFrom } from './command-definition.js';
export type { RunAction } from './command-definition.js';
export { clockText, durationText } from './duration.js';
export { CliError, badInput, errorCode, failure, messageOf, unreachable } from './errors.js';
export { EXIT, exitCodeOfRun } from './exit-codes.js';
export type { ExitCode } from './exit-codes.js';
export { saidBy } from './said-by.js';
export { paintFor, paintStatus, plain } from './style.js';
export type { Colour, Paint } from './style.js';
export { renderTable } from './table.js';
export { processTerminal } from './terminal.adapter.js';
export { printJson } from './terminal.js';
export type { CliContext, Terminal } from './terminal.js';
export { visibleClip, visibleLine, visibleLines } from './visible.js';

/**
 * The words of the command line and its help. It loads nothing else of the client, so that help answers at once.
 */
export { BAD_INPUT, runCommandLine } from './command-line.js';
export type { JoinOptions } from './command-line.js';

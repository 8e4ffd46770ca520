/** The words of the command line and its help. It loads nothing else of the client, so that help answers at once. */
export * from './command-line.js';

/** Text of others as it may be shown, to a person or to a model: nothing in it is hidden, and nothing is obeyed by a terminal. */
export * from './shell-word.js';
export * from './terminal-sequences.js';
export * from './visible.js';

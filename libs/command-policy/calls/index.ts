/** One program with its arguments: what can be asked about them, and what makes them plain. */
export * from './call.js';
export * from './follow.js';
export * from './links.js';
export * from './plain-call.js';
export * from './plain-tellers.js';
export * from './program.js';

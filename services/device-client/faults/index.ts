/**
 * What went wrong, in the shape that the rest of the client tells it: codes of the system, and sentences for the person who gave
 * the input.
 */
export * from './error-code.js';
export * from './input-error.js';

/** Messages that no service could handle: look, hand in again, delete. */
export * from './dead-letters.command.js';

/**
 * Messages that no service could handle: look, hand in again, delete.
 */
export { defineDeadLetters } from './dead-letters.command.js';

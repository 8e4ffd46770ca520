/**
 * Asking for something, and following what became of it.
 */
export { defineRequests, defineRuns } from './requests.command.js';

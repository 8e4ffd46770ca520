/**
 * Reviewed plans: list, show, check, save.
 */
export { defineRunbooks } from './runbooks.command.js';

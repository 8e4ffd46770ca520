/** Reviewed plans: list, show, check, save. */
export * from './runbooks.command.js';

/** Asking for something, and following what became of it. */
export * from './requests.command.js';

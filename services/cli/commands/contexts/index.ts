/** Systems by name, as a person adds, chooses and removes them. */
export * from './contexts.command.js';

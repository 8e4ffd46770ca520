/** Commands of all runs, found by what they said, where, who, when and how they ended. */
export * from './search.command.js';

/** The board of a run: named values that its tasks, agents, planner and people share. What may be written, and what is shown of it. */
export * from './board.js';
export * from './references.js';
export * from './shown.js';
export * from './write.js';

/** What the planner has learnt, and how a run is judged. */
export * from './experience.command.js';

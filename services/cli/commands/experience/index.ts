/**
 * What the planner has learnt, and how a run is judged.
 */
export { defineExperience } from './experience.command.js';

/**
 * What a planning model is told: the parts of its prompts, cut to what they may cost. Whether it is asked is decided by the moves.
 */
export * from './view.js';
export { PLANNER_TOKENS } from './parts.js';
export { PlannerPrompter } from './planner-prompter.js';
export { SUMMARY_TOKENS_MIN, type SummaryOptions, runSummaryText } from './summary.js';
export { type ProfilesOptions, profilesText } from './profiles-text.js';
export { constellationToolsText, planFieldsText } from './tools-text.js';
export type { Telling } from './bounded.js';

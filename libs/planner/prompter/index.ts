/**
 * What a planning model is told: the parts of its prompts, cut to what they may cost. Whether it is asked is decided by the moves.
 */
export * from './view.js';
export { PLANNER_TOKENS } from './parts.js';
export * from './planner-prompter.js';
export * from './summary.js';
export * from './profiles-text.js';
export * from './tools-text.js';
export type { Telling } from './bounded.js';

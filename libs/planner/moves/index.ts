/**
 * What the planner does next in a run, and what comes of an answer: a function of what is recorded. No text for a model is made here.
 */
export * from './edit-stage.js';
export * from './judgement.js';
export * from './next-move.js';
export { planCreation, type Planned, type ProposedPlan } from './plan-creation.js';
export * from './plan-editing.js';
export * from './plan-state.js';
export * from './rebase.js';
export * from './subtasks.js';

/**
 * What is known of a run at one point of its log: its tasks, lines, approvals, budget and notes. Nothing here changes it.
 */
export {
  type DecidedApproval,
  type GivenWord,
  type Grant,
  type OpenApproval,
  grantKey,
  withGiven,
  withDecided,
  withRequested,
  withWithdrawn,
  withoutGrants,
} from './approval-state.js';
export * from './authors.js';
export * from './blackboard.js';
export * from './budget.js';
export * from './fencing.js';
export * from './judging.js';
export * from './lines.js';
export * from './may-say.js';
export * from './model-text.js';
export * from './run.js';
export * from './standing.js';
export * from './tally.js';
export * from './task.js';
export * from './whom-to-ask.js';

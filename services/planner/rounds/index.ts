/**
 * Rounds: from EDIT_OPENED to a proposal in PLANS, asked of a runbook or a model once and recorded before it counts. What a plan may
 * contain is the business of libs/planner and libs/constellation.
 */
export * from './live-rounds.runner.js';
export { PlanCommits, PLANNER_SERVICE } from './plan-commits.adapter.js';
export { recorded } from './plan-facts.js';
export * from './planner-fault.js';
export { roundRecords, type Emit } from './round-records.adapter.js';
export * from './round.handler.js';
export * from './rounds.consumer.js';
export { Thinking } from './thinking.runner.js';
export * from './well-formed.js';

/**
 * Rounds: from EDIT_OPENED to a proposal in PLANS, asked of a runbook or a model once and recorded before it counts. What a plan may
 * contain is the business of libs/planner and libs/constellation.
 */
export { LiveRounds } from './live-rounds.js';
export { PlanCommits, PLANNER_SERVICE } from './plan-commits.adapter.js';
export { recorded } from './plan-facts.js';
export { PlannerFault, computed } from './planner-fault.js';
export { meteredModel, roundRecords } from './round-records.adapter.js';
export type { Emit } from './round-records.adapter.js';
export { RoundHandler } from './round.handler.js';
export { RoundsConsumer } from './rounds.consumer.js';
export { Thinking } from './thinking.runner.js';
export { wellFormed } from './well-formed.js';

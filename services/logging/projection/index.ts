/**
 * RUNS, ATTEMPTS and PLANS as rows, with their checkpoint in the same transaction, and reading them. What is rendered from them
 * is in `reports`.
 */
export { startsOf } from './attempt-rows.js';
export * from './attempts.projector.js';
export { batches } from './batches.adapter.js';
export * from './dead-letter.adapter.js';
export { projectionName, StreamFollower, type PreparedBatch, type Projection } from './follow.projector.js';
export * from './follower.runner.js';
export * from './plans.projector.js';
export * from './reader.adapter.js';
export * from './rebuild.adapter.js';
export * from './runs.projector.js';
export * from './rows.projector.js';
export { applyOnce, checkpointOf, upsertRows } from './write.adapter.js';

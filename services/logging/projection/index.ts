/**
 * RUNS, ATTEMPTS and PLANS as rows, with their checkpoint in the same transaction, and reading them. What is rendered from them
 * is in `reports`.
 */
export * from './attempts.projector.js';
export { batches } from './batches.adapter.js';
export * from './dead-letter.adapter.js';
export { StreamFollower, type Projection } from './follow.projector.js';
export * from './follower.runner.js';
export * from './plans.projector.js';
export * from './reader.adapter.js';
export * from './rebuild.adapter.js';
export * from './runs.projector.js';
export { checkpointOf, upsertRows } from './write.adapter.js';

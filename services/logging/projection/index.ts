/**
 * RUNS, ATTEMPTS and PLANS as rows, with their checkpoint in the same transaction, and reading them. What is rendered from them
 * is in `reports`.
 */
export { attemptsProjection } from './attempts.projector.js';
export { batches } from './batches.adapter.js';
export { DeadLetters } from './dead-letter.adapter.js';
export { StreamFollower } from './follow.projector.js';
export type { AppliedBatch } from './follow.projector.js';
export { parseJson } from './json.js';
export { plansProjection } from './plans.projector.js';
export { ProjectionReader, UnavailableError } from './reader.adapter.js';
export { forgetProjection } from './rebuild.adapter.js';
export { RunsProjection } from './runs.projector.js';
export { checkpointOf, upsertRows } from './write.adapter.js';

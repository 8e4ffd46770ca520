/**
 * What comes in for runs: requests, verbs, ends of attempts, words of the planner, wake-ups. Each is checked and handed to its
 * run; what follows is decided in `runs`.
 */
export { RequestInputs } from './intake.consumer.js';
export { PartitionInputs } from './partitions.consumer.js';
export { Partitions } from './partitions.js';
export { SubmitHandler } from './submit.handler.js';
export { VerbsHandler } from './verbs.handler.js';

/**
 * What comes in for runs: requests, verbs, ends of attempts, words of the planner, wake-ups. Each is checked and handed to its
 * run; what follows is decided in `runs`.
 */
export { IntakeConsumer } from './intake.consumer.js';
export { PartitionsConsumer } from './partitions.consumer.js';
export type { PlanApproval } from './submission.js';
export { SubmitHandler } from './submit.handler.js';
export { VerbsHandler } from './verbs.handler.js';

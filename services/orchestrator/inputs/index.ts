/**
 * What comes in for runs: requests, verbs, ends of attempts, words of the planner, wake-ups. Each is checked and handed to its
 * run; what follows is decided in `runs`.
 */
export * from './intake.consumer.js';
export * from './partitions.consumer.js';
export * from './partitions.js';
export { SubmitHandler } from './submit.handler.js';
export { KvVerbAnswers } from './verb-answers.adapter.js';
export * from './verbs.handler.js';

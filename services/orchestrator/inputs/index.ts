export { IntakeConsumer } from './intake.consumer.js';
export { PartitionsConsumer } from './partitions.consumer.js';
export type { PlanApproval } from './submission.js';
export { SubmitHandler } from './submit.handler.js';
export { VerbsHandler } from './verbs.handler.js';

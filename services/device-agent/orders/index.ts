/**
 * What others want of attempts: runs order them, stop them and decide for them, devices bring results late, people ask what the policy says.
 */
export { AttemptRunner, RUNNER_TIMES } from './attempt.runner.js';
export type { RunnerTimes } from './attempt.runner.js';
export { AttemptsConsumer } from './attempts.consumer.js';
export { ControlConsumer } from './control.consumer.js';
export { DeliverHandler } from './deliver.handler.js';
export { ExplainHandler } from './explain.handler.js';

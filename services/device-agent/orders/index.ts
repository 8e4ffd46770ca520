/** What others want of attempts: runs order them, stop them and decide for them, devices bring results late, people ask what the policy says. */
export * from './attempt.runner.js';
export * from './attempts.consumer.js';
export * from './control.consumer.js';
export * from './deliver.handler.js';
export * from './explain.handler.js';
export * from './settings.handler.js';

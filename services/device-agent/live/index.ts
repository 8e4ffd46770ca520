/**
 * The attempts that this process is carrying out: which they are, who may go on, and the way of their facts into the log. What is done for them
 * is not here.
 */
export * from './attempt-commits.adapter.js';
export * from './attempt-figures.adapter.js';
export * from './attempt-session.runner.js';
export * from './live-attempts.js';

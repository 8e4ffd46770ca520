/**
 * The attempts that this process is carrying out: which they are, who may go on, and the way of their facts into the log. What is done for them
 * is not here.
 */
export { AttemptCommits, changeBy, SERVICE } from './attempt-commits.adapter.js';
export { AttemptSession, Halt } from './attempt-session.runner.js';
export { LiveAttempt, LiveAttempts } from './live-attempts.js';
export type { Carried, Interruption } from './live-attempts.js';
export { Slots } from './slots.js';

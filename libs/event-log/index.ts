/**
 * Logs of facts: aggregates as chains of commits in streams, the one way to change one (`aggregate.ts`), reading on, reading live, and the same
 * without a server. What the facts of an aggregate mean is known to its core.
 */
export * from './event-log.js';
export * from './errors.js';
export * from './aggregate.js';
export * from './chain.js';
export * from './sealing.js';
export * from './ids.js';
export * from './logs.js';
export * from './jetstream-event-log.adapter.js';
export * from './memory-event-log.js';
export * from './metered-log.js';
export * from './parse-commit.js';
export * from './read-on.js';
export * from './read-commits.adapter.js';
export * from './read-stored.adapter.js';

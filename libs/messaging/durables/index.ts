/**
 * How messages of a durable are taken, handed over and settled: the loop, the outcome of a handler, the one place that
 * acknowledges, dead letters, and whether a durable is well. What a message means is its handler's business.
 */
export type { BusMessage } from './bus-message.js';
export * from './consume.adapter.js';
export * from './outcome.js';
export * from './run-commit.js';
export { DurableWatch } from './durable-watch.adapter.js';
export { durableProblem, type FoundDurable } from './standing.js';

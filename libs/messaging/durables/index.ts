/**
 * How messages of a durable are taken, handed over and settled: the loop, the outcome of a handler, the one place that
 * acknowledges, dead letters. What a message means is its handler's business.
 */
export type { BusMessage } from './bus-message.js';
export {
  consumeBatches,
  consumeDurable,
  type BatchMessage,
  type ConsumeEvent,
  type ConsumeOptions,
  type Consumption,
} from './consume.adapter.js';
export { DONE, retryAfterFailure, type Outcome } from './outcome.js';
export { mayHold, parseCommit } from './run-commit.js';

/** What devices show of themselves now: who is there, and how it is doing. Facts about that are made in `log`. */
export * from './fleet-figures.adapter.js';
export * from './metrics-board.js';
export * from './presence.consumer.js';

/**
 * The runs that this replica serves: loaded, decided about in their turn, appended. What may follow from an input is
 * `libs/constellation`'s to say.
 */
export * from './attempt-ends.client.js';
export * from './plan-words.client.js';
export { runFigures } from './run-figures.adapter.js';
export { RunServer } from './run-server.handler.js';
export type { Settled, Waiting } from './served-run.js';

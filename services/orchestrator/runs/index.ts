/**
 * The runs that this replica serves: loaded, decided about in their turn, appended. What may follow from an input is
 * `libs/constellation`'s to say.
 */
export * from './attempt-ends.client.js';
export * from './plan-words.client.js';
export { RunServer, type Settled, type Waiting } from './run-server.handler.js';

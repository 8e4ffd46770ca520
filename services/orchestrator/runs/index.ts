/**
 * The runs that this replica serves: loaded, decided about in their turn, appended. What may follow from an input is
 * `libs/constellation`'s to say.
 */
export { attemptAsked, attemptEnded, causeOf, storedEnds } from './attempt-ends.client.js';
export { maySpeak, planWord, storedWords } from './plan-words.client.js';
export { RunServer } from './run-server.handler.js';
export type { Settled, Waiting } from './run-server.handler.js';

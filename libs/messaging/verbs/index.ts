/** What is asked and ordered over the bus with one answer: requests for runs, queries of services, verbs of people, dead letters again. */
export * from './ask.client.js';
export { unlessOwn, type Asker, type Authority, type Sender, type SignedQuery } from './asker.js';
export * from './hand-again.adapter.js';
export * from './queries.adapter.js';
export * from './refused.js';
export { signsQueries, type CommandSigner } from './signing.js';
export * from './submit.client.js';
export * from './verbs.client.js';

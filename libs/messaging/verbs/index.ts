/** What is asked and ordered over the bus with one answer: queries of services, verbs of people, dead letters again. */
export * from './hand-again.adapter.js';
export * from './queries.adapter.js';
export * from './verbs.client.js';

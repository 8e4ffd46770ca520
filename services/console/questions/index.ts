/** What services answer as it is: each question and each order a row of a table. Nothing is decided here. */
export * from './question-routes.js';
export * from './questions.client.js';
export * from './questions.controller.js';

/** The queries that the logging service answers, from rows and reports. */
export * from './attention.controller.js';
export * from './queries.controller.js';

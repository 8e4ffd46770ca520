/** The queries that the logging service answers, from rows and reports. */
export * from './queries.controller.js';

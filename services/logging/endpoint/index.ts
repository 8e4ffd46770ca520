/** The queries that the logging service answers, from rows and reports. */
export { serveLogging } from './queries.controller.js';

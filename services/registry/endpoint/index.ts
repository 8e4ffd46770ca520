/** The queries that the registry answers. It decides nothing itself. */
export { serveRegistry } from './queries.controller.js';

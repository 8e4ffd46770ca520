/** The queries that the registry answers. It decides nothing itself. */
export * from './queries.controller.js';

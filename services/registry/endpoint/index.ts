/** The queries that the registry answers. It decides nothing itself. */
export * from './people.controller.js';
export * from './queries.controller.js';

/** The queries that the registry answers. It decides nothing itself. */
export { ContentQueries } from './content.controller.js';
export { PeopleQueries } from './people.controller.js';
export * from './queries.controller.js';

/** The queries that the registry answers. It decides nothing itself. */
export { FleetQueries, IdentityQueries } from './queries.controller.js';

/** The list of who did what: records of ACCESS and facts of ACTORS as one. Nothing is decided or written here. */
export { AccessQueries } from './access.controller.js';

/**
 * The bus and the database of a service, which may come, go and come back while it runs. What is read and written there is not known here.
 */
export { openBus } from './bus.js';
export type { Bus } from './bus.js';
export { openPostgres } from './postgres.js';
export type { Postgres, PostgresEntities, PostgresMigrations } from './postgres.js';

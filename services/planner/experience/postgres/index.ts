/** Experience in PostgreSQL: the only folder of this service that knows typeorm, loaded when a database is configured. */
export * from './experiences.adapter.js';

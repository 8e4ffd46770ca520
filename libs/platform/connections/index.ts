/** The bus and the database of a service, which may come, go and come back while it runs. What is read and written there is not known here. */
export * from './backoff.js';
export * from './bus.js';
export * from './postgres.js';

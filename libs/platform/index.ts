/** What every service stands on: its settings, its process, its connections, and what can be seen of it. Nothing here knows what a service is for. */
export { systemClock, type Clock } from '#libs/messaging';
export * from './config/index.js';
export * from './wiring/index.js';
export { createLogger } from './watch/logger.js';
export * from './connections/backoff.js';
export * from './process/loop.js';
export * from './process/stopping.js';
export * from './watch/health.js';
export * from './watch/metrics.js';
export * from './process/ports.js';
export * from './knows-actors.js';
export * from './platform.module.js';
export * from './inputs/index.js';
export { postgresModule, type PostgresModuleOptions } from './postgres.module.js';
export * from './connections/postgres.js';
export * from './process/bootstrap.js';

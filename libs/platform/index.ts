/**
 * What every service stands on: its settings, its process, its connections, and what can be seen of it. Nothing here knows what a service is for.
 */
export { systemClock, type Clock } from '#libs/messaging';
export {
  ConfigError,
  envChoice,
  envFlag,
  envInt,
  envUrl,
  loadConfig,
  parseConfig,
  type Environment,
} from './config/config.js';
export * from './wiring/index.js';
export { ServiceConfig } from './config/service-config.js';
export { createLogger } from './watch/logger.js';
export { untilItWorks, type RetryOptions } from './connections/backoff.js';
export { readDatabaseUrl } from './config/database-url.js';
export { Loop } from './process/loop.js';
export { stopping } from './process/stopping.js';
export { HealthIndicators, type HealthCheckFunction } from './watch/health.js';
export { Metrics } from './watch/metrics.js';
export { ServicePorts } from './process/ports.js';
export { busTransport, PlatformModule } from './platform.module.js';
export { Answers, AnswersSubject, TakesMessages, Takes, TakesPartitions } from './inputs/index.js';
export { postgresModule, type PostgresModuleOptions } from './postgres.module.js';
export {
  openPostgres,
  type Postgres,
  type PostgresEntities,
  type PostgresMigrations,
  type PostgresOptions,
} from './connections/postgres.js';
export { runService, serveMessages, type ServiceOptions } from './process/bootstrap.js';

export { systemClock, type Clock } from './clock.js';
export {
  ConfigError,
  envChoice,
  envFlag,
  envInt,
  envUrl,
  loadConfig,
  parseConfig,
  type Environment,
} from './config.js';
export { CLOCK, INSTANCE, LOGGER, NATS, POSTGRES, SERVICE_CONFIG, SERVICE_NAME } from './tokens.js';
export { ServiceConfig } from './service-config.js';
export { createLogger } from './logger.js';
export { untilItWorks, type RetryOptions } from './backoff.js';
export { readDatabaseUrl } from './database-url.js';
export { stopping } from './stopping.js';
export { HealthIndicators, type HealthCheckFunction } from './health.js';
export { Metrics } from './metrics.js';
export { ServicePorts } from './ports.js';
export { PlatformModule } from './platform.module.js';
export { postgresModule, type PostgresModuleOptions } from './postgres.module.js';
export {
  openPostgres,
  type Postgres,
  type PostgresEntities,
  type PostgresMigrations,
  type PostgresOptions,
} from './postgres.js';
export { runService, type ServiceOptions } from './bootstrap.js';

/**
 * What can be seen of a service from outside: its log, its metrics, whether it is alive and ready.
 */
export { HealthController } from './health.controller.js';
export { HealthIndicators } from './health.js';
export { createLogger, frameworkLogger } from './logger.js';
export { Metrics } from './metrics.js';

/** What can be seen of a service from outside: its log, its metrics, whether it is alive and ready. */
export * from './health.controller.js';
export * from './health.js';
export * from './logger.js';
export * from './metrics.js';
export * from './metrics-access.js';

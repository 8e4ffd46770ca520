/**
 * Settings of a service, read from its environment and checked before anything starts. Settings of one service alone are its own.
 */
export { ConfigError, loadConfig } from './config.js';
export { readDatabaseUrl } from './database-url.js';
export { ServiceConfig } from './service-config.js';

/**
 * The servers that an installation brings along: nats-server and PostgreSQL, found, configured, started, and stopped by id. Who needs
 * them, and with which accounts, is decided by the launcher.
 */
export * from './container-nats.runner.js';
export * from './errors.js';
export * from './nats-config.js';
export * from './nats.runner.js';
export * from './ports.js';
export { unprivilegedIds } from './postgres-binaries.js';
export * from './postgres-look.adapter.js';
export * from './postgres.runner.js';
export { errorCode, isAlive, type ServerHandle } from './server-process.js';

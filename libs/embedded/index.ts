export { EmbeddedServerError } from './errors.js';
export { findNatsServer, NATS_VERSION_MIN } from './nats-binary.js';
export { MAX_PAYLOAD, renderNatsConfig, type NatsConfigOptions, type NatsUser } from './nats-config.js';
export { startNats, stopNatsOn, type NatsHandle, type NatsOptions } from './nats.runner.js';
export { freePort, isPortFree, LOOPBACK } from './ports.js';
export { unprivilegedIds } from './postgres-binaries.js';
export { startPostgres, stopPostgresOn, type PostgresHandle, type EmbeddedPostgresOptions } from './postgres.runner.js';

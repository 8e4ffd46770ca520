/** The running connection to NATS (`NatsConnection`); it reconnects for ever. */
export const NATS = Symbol('NATS');
/** Name of this replica (`string`), unique among the replicas of a service. */
export const INSTANCE = Symbol('INSTANCE');
/** `Clock`. */
export const CLOCK = Symbol('CLOCK');
/** The service's pino `Logger`. */
export const LOGGER = Symbol('LOGGER');
/** What every service reads from its environment (`ServiceConfig`). */
export const SERVICE_CONFIG = Symbol('SERVICE_CONFIG');
/** Name of the service (`string`). */
export const SERVICE_NAME = Symbol('SERVICE_NAME');
/** `Postgres`, from `postgresModule`. */
export const POSTGRES = Symbol('POSTGRES');

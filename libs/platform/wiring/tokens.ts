import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import type { ServiceConfig as Config } from '../config/index.js';
import type { Postgres } from '../connections/index.js';
import type { Clock } from '#libs/messaging';
import { token } from './part.js';

/** The running connection to NATS; it reconnects for ever. */
export const NATS = token<NatsConnection>('NATS');
/** Name of this replica, unique among the replicas of a service. */
export const INSTANCE = token<string>('INSTANCE');
export const CLOCK = token<Clock>('CLOCK');
export const LOGGER = token<Logger>('LOGGER');
/** What every service reads from its environment. */
export const SERVICE_CONFIG = token<Config>('SERVICE_CONFIG');
/** Name of the service. */
export const SERVICE_NAME = token<string>('SERVICE_NAME');
/** From `postgresModule`. */
export const POSTGRES = token<Postgres>('POSTGRES');

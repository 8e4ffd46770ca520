/**
 * Devices with a session: the key in PRESENCE, the desk that takes their commands from the bus, live output, and what foreign devices
 * need beside a command. Files and large results have a room of their own.
 */
export * from './device-connection.gateway.js';
export * from './injection-file.adapter.js';
export { NO_INJECTION, type ParameterInjection } from './parameter-injection.js';
export { PresenceBook } from './presence.client.js';
export type { Surroundings } from './surroundings.js';

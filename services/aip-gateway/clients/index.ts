/**
 * Clients that send tasks: their sockets, the runs that their tasks become, the ends that they are told, and the devices they may ask
 * about. How a client proves who it is lives in identity, what it may say in libs/aip.
 */
export { ClientRuns } from './client-runs.client.js';
export { ConstellationConnection } from './constellation-connection.gateway.js';
export type { ClientServices } from './constellation-connection.gateway.js';
export { DeviceDirectory } from './device-directory.client.js';

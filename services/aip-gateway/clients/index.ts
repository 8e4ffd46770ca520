/**
 * Clients that send tasks: their sockets, the runs that their tasks become, the ends that they are told, and the devices they may ask
 * about. How a client proves who it is lives in identity, what it may say in libs/aip.
 */
export * from './client-runs.client.js';
export * from './constellation-connection.gateway.js';
export * from './device-directory.client.js';

/**
 * The AIP endpoint: from the first byte of TCP to an open WebSocket, and the list of those that are open. What is said on one of them
 * is the business of devices and clients.
 */
export { AipServer } from './aip-server.gateway.js';
export type { AipServerOptions } from './aip-server.gateway.js';

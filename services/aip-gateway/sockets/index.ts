/**
 * The AIP endpoint: from the first byte of TCP to an open WebSocket, and the list of those that are open. What is said on one of them
 * is the business of devices and clients.
 */
export { Admission } from './admission.js';
export * from './aip-sockets.adapter.js';
export * from './aip.gateway.js';
export * from './check-again.js';
export * from './connections.js';
export * from './contention.js';
export * from './presence-watch.client.js';

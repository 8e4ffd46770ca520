/**
 * The AIP endpoint: from the first byte of TCP to an open WebSocket, and the list of those that are open. What is said on one of them
 * is the business of devices and clients.
 */
export { Admission } from './admission.js';
export { AipSockets } from './aip-sockets.adapter.js';
export { AipGateway, GROUND } from './aip.gateway.js';
export type { ConnectionGround } from './aip.gateway.js';
export { checkAgain } from './check-again.js';
export { Connections } from './connections.js';
export { Contention } from './contention.js';
export { PresenceWatch } from './presence-watch.client.js';

/**
 * What carries frames: the socket, a pair of ends in memory, signs of life, and when to dial again. Nothing here reads a
 * message.
 */
export { FIRST_DIAL, RECONNECT, delayMs, failuresAfter, nextDial } from './backoff.js';
export type { BackoffPolicy, DialEnd } from './backoff.js';
export type { Closed, Transport } from './transport.js';
export { HandshakeRefused, connectWs } from './ws-transport.adapter.js';
export type { ConnectOptions } from './ws-transport.adapter.js';

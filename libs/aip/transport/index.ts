/**
 * What carries frames: the socket, a pair of ends in memory, signs of life, and when to dial again. Nothing here reads a
 * message.
 */
export * from './backoff.js';
export * from './linked-pair.js';
export { livenessPolicy, type Liveness, type LivenessPolicy } from './liveness.js';
export * from './transport.js';
export * from './ws-transport.adapter.js';

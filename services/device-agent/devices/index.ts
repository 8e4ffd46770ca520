/**
 * The way to a device: requests to its gateway until somebody answers, and what is known of its sessions. What is recorded of an answer is not
 * decided here.
 */
export * from './command.runner.js';
export { NatsDeviceLink, type GatewayLink, type GatewayReply } from './link.client.js';
export { sessionFor } from './session.js';
export * from './states.adapter.js';
export * from './waiting.runner.js';

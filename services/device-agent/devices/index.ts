/**
 * The way to a device: requests to its gateway until somebody answers, and what is known of its sessions. What is recorded of an answer is not
 * decided here.
 */
export { CommandRunner } from './command.runner.js';
export type { CommandAnswer, CommandTimes } from './command.runner.js';
export { NatsDeviceLink } from './link.client.js';
export type { GatewayLink } from './link.client.js';
export { hasLost, sessionFor } from './session.js';
export type { DeviceState } from './session.js';
export { watchDeviceStates } from './states.adapter.js';
export { waitUnlessAborted } from './waiting.runner.js';

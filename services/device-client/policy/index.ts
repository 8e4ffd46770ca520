/** What this device refuses by itself, whatever the service allows. */
export * from './command-gate.runner.js';
export { callOf, type JudgedOrder } from './command-gate.js';
export * from './local-policy.adapter.js';

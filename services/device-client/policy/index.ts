/**
 * What this device refuses by itself, whatever the service allows.
 */
export { callOf } from './command-gate.js';
export { CommandGate } from './command-gate.runner.js';
export { readLocalPolicy } from './local-policy.adapter.js';

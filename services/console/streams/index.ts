/**
 * Server-Sent Events: what happens in a run, and what its tasks print. Stored nowhere but in FEED and RUNS.
 */
export { OutputController } from './output.controller.js';
export { RunEvents } from './run-events.gateway.js';
export { RunOutput } from './run-output.gateway.js';

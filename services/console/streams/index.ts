/** Server-Sent Events: what happens in a run, and what its tasks print. Stored nowhere but in FEED and RUNS. */
export * from './output.controller.js';
export * from './run-events.gateway.js';
export * from './run-output.gateway.js';

/** The devices that a plan may use, followed on the bus, and which of them fit a task. */
export * from './fleet-watch.adapter.js';
export * from './fleet.js';
export * from './known-fleet.adapter.js';
export * from './match.controller.js';

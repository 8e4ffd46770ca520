/**
 * The devices that a plan may use, followed on the bus, and which of them fit a task.
 */
export { watchFleet } from './fleet-watch.adapter.js';
export { PlanningFleet } from './fleet.js';
export { untilKnown } from './known-fleet.adapter.js';
export { MatchHandler } from './match.handler.js';

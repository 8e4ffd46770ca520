/**
 * The bus with the key of a person: connecting, and what is asked of the services over it. Nothing of a log is read here.
 */
export { withBus, withBusAt, withSignedBus } from './bus.client.js';
export type { BusRole } from './bus.client.js';
export { fleetIfKnown } from './fleet.client.js';
export { orderOfPlanner } from './planner.client.js';

/** The bus with the key of a person: connecting, and what is asked of the services over it. Nothing of a log is read here. */
export * from './bus.client.js';
export { patienceOf } from './patience.js';
export * from './fleet.client.js';
export * from './open-fleet.js';
export * from './planner.client.js';
export * from './registry.client.js';
export * from './until-answered.client.js';

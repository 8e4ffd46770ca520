export { consumeDue } from './due.consumer.js';
export { FleetConsumer } from './fleet.consumer.js';
export { FleetHandler } from './fleet.handler.js';
export { IdentityHandler } from './identity.handler.js';

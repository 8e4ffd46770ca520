export { FleetConsumer } from './fleet.consumer.js';
export { Fleet } from './fleet.js';

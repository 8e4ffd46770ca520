export { FleetViewConsumer } from './fleet.consumer.js';
export { Fleet } from './fleet.js';

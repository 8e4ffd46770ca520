export { MetricsBoard } from './metrics-board.js';
export { PresenceConsumer } from './presence.consumer.js';

/** What devices show of themselves now: who is there, and how it is doing. Facts about that are made in `log`. */
export { MetricsBoard } from './metrics-board.js';
export { PresenceConsumer, readPresence } from './presence.consumer.js';

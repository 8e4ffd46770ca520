export { JetStreamStrategy, OnDurable } from './jetstream.strategy.js';

/**
 * The way to ACTORS and back: what is ordered about people and systems is decided and appended here, shown in the bucket ACTORS, and
 * what is known without an order becomes facts. The decisions are in `actors`.
 */
export * from './actors.consumer.js';
export * from './actors.handler.js';
export * from './actors.projector.js';
export * from './feed-durables.reactor.js';
export * from './first-actors.runner.js';

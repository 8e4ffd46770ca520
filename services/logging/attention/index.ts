/**
 * The inbox: what of runs, attempts, devices and the system itself needs somebody, and what people have said to it. The rows of runs are written
 * with the runs, in `projection`; what needs somebody at all is known to `libs/attention`.
 */
export * from './attention.handler.js';
export * from './backfill.adapter.js';
export * from './comings.projector.js';
export * from './looks.reactor.js';
export * from './reader.adapter.js';
export * from './words.projector.js';

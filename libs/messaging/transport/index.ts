/**
 * How messages reach the methods of a service: the transport of the framework over the loops of `durables` and the queries of
 * `verbs`. It knows types of the framework and nothing of its code, so that who has no services pays for none of it.
 */
export * from './bus.strategy.js';
export { PARTITION, Thrown, type BusPattern, type BusRequest, type SubjectName, type TakeOptions } from './patterns.js';

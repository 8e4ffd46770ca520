/**
 * What services do with NATS: connect, take messages from durables and settle them, ask and answer, share out partitions, keep
 * artifacts. What crosses the wire is in `proto`, how commits are appended and read in `libs/event-log`.
 */
export * from './access/index.js';
export * from './artifacts/index.js';
export * from './buckets/index.js';
export * from './connection/index.js';
export * from './durables/index.js';
export * from './members/index.js';
export * from './streams/index.js';
export * from './transport/index.js';
export * from './users/index.js';
export * from './verbs/index.js';

/**
 * Small values without a domain of their own: arrays that share what did not change, indexes by id, JSON and its size, spans of
 * time. Nothing here knows what a task is.
 */
export * from './answer.js';
export * from './cut-parts.js';
export * from './grown.js';
export * from './id-index.js';
export * from './intervals.js';
export * from './json-bytes.js';
export * from './known-parts.js';
export * from './list-of-ids.js';
export * from './persistent-array.js';
export { canonicalJson, sameJson } from '#proto';

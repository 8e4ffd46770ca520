/**
 * Small values without a domain of their own: arrays that share what did not change, indexes by id, JSON and its size, spans of
 * time. Nothing here knows what a task is.
 */
export { ACCEPTED, type Answer, IGNORED, refuse } from './answer.js';
export { type CutPart, cutParts, cutText } from './cut-parts.js';
export { IdIndex } from './id-index.js';
export { type Interval, covered } from './intervals.js';
export { jsonBytes } from './json-bytes.js';
export { PersistentArray } from './persistent-array.js';
export { canonicalJson, sameJson } from '#proto';

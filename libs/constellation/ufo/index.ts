/** A run in the words and files of UFO, for its own tools. Nothing else in the library depends on it. */
export * from './ufo-export.js';
export { takeKept } from './ufo-kept.js';
export { importUfo, withoutUfo } from './ufo.js';

/**
 * Pictures of screens: PNG in and out, parts of them, and marks on them, with nothing but zlib. What is in a picture, and who may
 * see it, is decided by those who take one.
 */
export * from './marked-place.js';
export * from './marks.js';
export * from './pixels.js';
export * from './png-of-run.js';
export * from './png-reading.js';
export * from './png-writing.js';

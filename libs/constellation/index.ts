/**
 * The aggregate RUN: the plan of a request, what has become of it, and what happens next in it. Pure: time, ids and what a device said
 * come in as arguments. Who stores, sends or asks lives in the services.
 */
export * from './board/index.js';
export * from './decide/index.js';
export * from './edits/index.js';
export * from './fold/index.js';
export * from './plan/index.js';
export * from './profile/index.js';
export * from './report/index.js';
export * from './schedule/index.js';
export * from './state/index.js';
export * from './statistics/index.js';
export * from './ufo/index.js';
export * from './values/index.js';
export * from './views/index.js';
export * from './waves/index.js';

/** From the findings about every command of a line to one verdict, and to words that explain it. */
export * from './device-links.adapter.js';
export * from './explain.js';
export * from './open-policy.js';
export * from './policy-in-use.js';
export type { Links, Starts } from '../calls/index.js';

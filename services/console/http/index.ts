/**
 * The door of the console: its gate, bodies and refusals. What is asked for behind it is not known here.
 */
export { gate, readBody } from './http.adapter.js';
export type { BodyRequest } from './http.adapter.js';
export { jsonObject, optionalJsonObject, valid } from './input.js';
export { RefusedError } from './refusal.js';
export { RefusalsFilter } from './refusals.filter.js';

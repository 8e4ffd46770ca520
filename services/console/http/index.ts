/** The door of the console: its gate, bodies and refusals. What is asked for behind it is not known here. */
export { gate, readBody, type BodyRequest } from './http.adapter.js';
export * from './input.js';
export { RefusedError } from './refusal.js';
export * from './refusals.filter.js';

/** How the parts of a service are named and put together. What the parts are is in the module of each service. */
export * from './part.js';
export * from './tokens.js';

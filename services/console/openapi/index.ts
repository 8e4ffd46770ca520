/** The description of the interface, as it is served. */
export * from './openapi.controller.js';

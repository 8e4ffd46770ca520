/** The description of the interface, as it is served. */
export * from './openapi.controller.js';
export * from './api-types.js';
export { openApi } from './openapi.js';

/**
 * The description of the interface, as it is served.
 */
export { OpenApiController } from './openapi.controller.js';

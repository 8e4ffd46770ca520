/** The HTTP interface with types that are made of its description. */
export * from './ask.js';
export type { ApiOperations, ApiSchemas } from './schema.js';

/** From the text of a model to a value that fits a schema, asked again when it does not. */
export * from './model-desk.js';
export type { StructuredReply } from './structured-reply.js';
export * from './thought-stream.js';

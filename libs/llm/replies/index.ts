/**
 * From the text of a model to a value that fits a schema, asked again when it does not.
 */
export { StoringModelDesk, type ModelDesk, type ModelDeskParts, type ModelQuestion } from './model-desk.js';
export { strictSchema, type StrictSchema } from './strict-schema.js';
export { askStructured, type CallRefusal, type StructuredAsk, type StructuredReply } from './structured-reply.js';
export { thoughtFollower } from './thought-stream.js';

/**
 * What a model and an embedder are to those who ask, and what asking costs. Nothing here opens a connection.
 */
export type { ChatModel, ModelAnswer, ModelErrorCode, ModelRequest } from './chat-model.js';
export { DIMENSIONS_MAX, EMBEDDED_CHARS_MAX, EMBEDDED_TEXTS_MAX, wrongNumberOfTexts } from './embedder.js';
export type { Embedded, Embedder, EmbeddingRequest, NotEmbedded } from './embedder.js';
export { Price, costOf } from './price.js';
export type { PriceTable } from './price.js';
export { promptHash, sendable } from './prompt-hash.js';
export { countPromptTokens, countTokens } from './tokens.js';

/** What a model and an embedder are to those who ask, and what asking costs. Nothing here opens a connection. */
export * from './budget-meter.js';
export * from './chat-model.js';
export * from './embedder.js';
export * from './metered-model.js';
export * from './price.js';
export * from './prompt-hash.js';
export * from './tokens.js';

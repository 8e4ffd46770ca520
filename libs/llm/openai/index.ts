/**
 * The wire of OpenAI and of those who speak like it: requests, replies, faults, and what is done about them. Nothing outside of
 * it knows the wire.
 */
export * from './chat-model.adapter.js';
export type { BreakerOptions } from './circuit.js';
export * from './embedder.adapter.js';

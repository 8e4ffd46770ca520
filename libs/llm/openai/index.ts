/**
 * The wire of OpenAI and of those who speak like it: requests, replies, faults, and what is done about them. Nothing outside of
 * it knows the wire.
 */
export { OpenAiChatModel } from './chat-model.adapter.js';
export { OpenAiEmbedder } from './embedder.adapter.js';

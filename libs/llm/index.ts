/**
 * Models: asking them, making sure of what they answer, counting what it costs, and their stand-ins in tests and recordings.
 * What they are asked is written in `prompts` and put together in `libs/prompter`.
 */
export * from './load.adapter.js';
export * from './models/index.js';
export * from './openai/index.js';
export * from './replies/index.js';
export * from './settings/index.js';
export * from './stand-ins/index.js';

/**
 * What prompts are made of: templates, fences around what others wrote, excerpts of what is too long. Pure; the texts lie under
 * `prompts`, and what a prompt says is decided by the prompters of the agents.
 */
export * from './documents.js';
export * from './excerpt.js';
export * from './fence.js';
export * from './output-text.js';
export * from './template.js';
export * from './tokens.js';

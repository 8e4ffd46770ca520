/**
 * The prompt of a turn, made of what the agent sees and remembers. Templates come from outside; no model is asked here.
 */
export * from './view.js';
export * from './base-prompter.js';
export * from './host-agent-prompter.js';
export * from './app-agent-prompter.js';
export * from './linux-agent-prompter.js';
export * from './tool-prompt.js';
export * from './read-input.js';
export * from './read-output.js';
export * from './memory-prompt.js';
/** What all prompts are made of. */
export * from '#libs/prompter';
export { READ_INPUT_TOOL } from './read-input.js';
export { READ_LINES_DEFAULT, READ_OUTPUT_TOOL } from './read-output.js';
export type { PromptView } from './view.js';

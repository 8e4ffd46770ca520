/**
 * The prompt of a turn, made of what the agent sees and remembers. Templates come from outside; no model is asked here.
 */
export * from './app-agent-prompter.js';
export * from './base-prompter.js';
export * from './host-agent-prompter.js';
export * from './linux-agent-prompter.js';
export * from './mobile-agent-prompter.js';
export * from './read-input.js';
export * from './read-output.js';
export * from './screen-prompters.js';
export * from './tool-prompt.js';
export * from './use-board.js';
export * from './view.js';
/** What all prompts are made of. */
export * from '#libs/prompter';

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

/** Prompts and runbooks as files: found, read, checked. What is made of them is in `libs/prompter` and `libs/planner`. */
export * from './load-prompts.adapter.js';
export { PROMPT_LIMITS } from './prompt-file.js';
export type { PromptExamples, PromptTemplate, PromptTemplates } from '#libs/prompter';
export * from './load-runbooks.adapter.js';

export { loadPrompts, promptsDirectory, PromptFileError } from './load-prompts.adapter.js';
export { PROMPT_LIMITS } from './prompt-file.js';
export type { PromptExamples, PromptTemplate, PromptTemplates } from '#libs/device-agent';

export { loadPrompts, promptsDirectory, PromptFileError } from './load-prompts.adapter.js';
export { PROMPT_LIMITS } from './prompt-file.js';
export type { PromptExamples, PromptTemplate, PromptTemplates } from '#libs/prompter';
export {
  loadRunbooks,
  type LoadedRunbooks,
  parseRunbookFile,
  runbookDirectories,
  type RunbookDirectory,
} from './load-runbooks.adapter.js';

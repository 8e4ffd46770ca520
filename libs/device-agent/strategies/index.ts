/**
 * What agents do in the phases of a round: ask the model, act, remember. Strategies know the values they share, never each other.
 */
export { actionExecution } from './action-execution.js';
export { llmInteraction } from './llm-interaction.js';
export { memoryUpdate } from './memory-update.js';
export { agentToolsOf } from './own-tools.js';
export type { RoundValues } from './values.js';

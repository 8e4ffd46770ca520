/**
 * What agents do in the phases of a round: ask the model, act, remember. Strategies know the values they share, never each other.
 */
export * from './action-execution.js';
export { callProblem } from './call-problems.js';
export * from './effects.js';
export * from './llm-interaction.js';
export * from './memory-update.js';
export * from './own-tools.js';
export * from './values.js';

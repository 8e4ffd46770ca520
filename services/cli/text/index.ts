/** Facts of a run turned into lines for a person. Pure: the same facts give the same lines. */
export { approvalText, approvalsTable, askLine, commandText, decidedText } from './approval-text.js';
export * from './attention-text.js';
export * from './model-calls.js';
export * from './next-steps.js';
export * from './plan-reach.js';
export * from './plan-rounds.js';
export { constellationText, diffText, finalAnswerText, planningSummary, planningText } from './plan-text.js';
export * from './result-text.js';
export * from './run-text.js';
export * from './timeline.js';
export { waitLines } from './wait-text.js';

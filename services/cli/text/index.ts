/**
 * Facts of a run turned into lines for a person. Pure: the same facts give the same lines.
 */
export { approvalText, approvalsTable, askLine, commandText, decidedText } from './approval-text.js';
export { callsText, problemLines } from './model-calls.js';
export { hasSelectors, printReach, reachOf } from './plan-reach.js';
export { planningStoryOf } from './plan-rounds.js';
export { constellationText, diffText, finalAnswerText, planningSummary, planningText } from './plan-text.js';
export { answerText, exitCodeIn, stderrOf } from './result-text.js';
export { drawingOf, evaluationText, runText } from './run-text.js';
export { counted, timelineOf } from './timeline.js';

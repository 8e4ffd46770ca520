/**
 * What others are shown of a run: as a document, as words, as figures. Reads the state, never changes it.
 */
export { eventOf, stepsOf } from './attempt-story.js';
export type { ActStory, AttemptStory, StepStory } from './attempt-story.js';
export {
  askText,
  callText,
  decisionText,
  editText,
  editsText,
  stopText,
  triggersText,
  usageText,
  violationText,
  violationsText,
  waitsText,
  wakerText,
} from './event-text.js';
export { metricsOf } from './metrics.js';
export type { ChangeCounts, ConstellationSize, RunMetrics } from './metrics.js';
export { keyOfTry } from './plan-saying.js';
export type { PlanSaying } from './plan-saying.js';
export { completeText, subtasksText } from './subtask-text.js';
export { viewOf } from './view.js';

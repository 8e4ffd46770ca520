/**
 * What others are shown of a run: as a document, as words, as figures. Reads the state, never changes it.
 */
export {
  type ActStory,
  type AttemptStory,
  type StepStory,
  attemptStories,
  entryEvents,
  eventOf,
  stepsOf,
} from './attempt-story.js';
export { type ConstellationDiff, type FieldChange, constellationOf, diffConstellations } from './diff.js';
export {
  type SaidDecision,
  askText,
  callText,
  decisionText,
  editText,
  editsText,
  noteText,
  stopText,
  triggersText,
  usageText,
  violationText,
  violationsText,
  waitsText,
  wakerText,
} from './event-text.js';
export type { ConstellationSize } from './metrics-plan.js';
export { type ChangeCounts, type RunMetrics, metricsOf } from './metrics.js';
export { type PlanSaying, keyOfTry, planSayingsOf } from './plan-saying.js';
export { snapshotOf } from './snapshot.js';
export { completeText, subtasksText } from './subtask-text.js';
export { summaryOf, viewOf, waitingFor } from './view.js';

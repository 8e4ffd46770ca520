/** What others are shown of a run: as a document, as words, as figures. Reads the state, never changes it. */
export * from './attempt-story.js';
export * from './conversation.js';
export * from './diff.js';
export * from './event-text.js';
export * from './event-words.js';
export type { ConstellationSize } from './metrics-plan.js';
export * from './metrics.js';
export * from './plan-saying.js';
export { snapshotOf } from './snapshot.js';
export * from './subtask-text.js';
export * from './target-text.js';
export * from './view.js';
export * from './wall-text.js';

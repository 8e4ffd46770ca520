export {
  checkCondition,
  type ConditionScope,
  evaluateCondition,
  type Stream,
  type Truth,
  undecided,
} from './condition.js';
export * from './truth.js';
export { wholeValue } from './whole-value.js';
export * from './graph.js';
export * from './acyclic.js';
export * from './validate.js';
export * from './run.js';
export { sameJson } from './same-json.js';
export * from './held.js';
export * from './edit.js';
export * from './edit-locality.js';
export * from './fork.js';
export * from './evolve.js';
export * from './view.js';
export * from './fleet-view.js';
export * from './exec-alias.js';
export * from './circuit.js';
export * from './lines.js';
export * from './answer.js';
export * from './approval-state.js';
export type { Asked, Word } from './approvals.js';
export * from './blackboard.js';
export * from './budget.js';
export * from './attempt-end.js';
export { ANY_DEVICE } from './close.js';
export type { Control } from './control.js';
export type { RoundFailure } from './edit-cycle.js';
export { asksPlanner } from './edit-rounds.js';
export { collectAnswer } from './final-answer.js';
export * from './decide.js';
export * from './invariants.js';
export * from './event-text.js';
export * from './subtask-text.js';
export * from './outcome.js';
export * from './replacement.js';
export * from './diff.js';
export * from './report-commands.js';
export { planSayingsOf, type PlanSaying } from './plan-saying.js';
export { planStepsOf, type PlanStep } from './report-plans.js';
export * from './report.js';
export { cutParts, cutText, type CutPart } from './cut-parts.js';
export { attemptStories, eventsOf, type AttemptStory } from './attempt-story.js';
export * from './ufo.js';
export * from './metrics.js';
export { jsonBytes } from './json-bytes.js';
export * from './tool-edits.js';
export * from './snapshot.js';
export { outOfScope } from './scope.js';

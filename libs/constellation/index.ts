export {
  checkCondition,
  type ConditionScope,
  evaluateCondition,
  type Stream,
  type Truth,
  undecided,
} from './plan/condition.js';
export * from './plan/truth.js';
export { wholeValue } from './plan/whole-value.js';
export * from './plan/graph.js';
export * from './plan/acyclic.js';
export * from './plan/validate.js';
export * from './state/run.js';
export { sameJson } from './values/same-json.js';
export * from './decide/held.js';
export * from './edits/edit.js';
export * from './edits/edit-locality.js';
export * from './fold/fork.js';
export * from './fold/evolve.js';
export * from './views/view.js';
export * from './edits/fleet-view.js';
export * from './edits/exec-alias.js';
export * from './edits/circuit.js';
export * from './state/lines.js';
export * from './values/answer.js';
export * from './state/approval-state.js';
export type { Asked, Word } from './decide/approvals.js';
export * from './state/blackboard.js';
export * from './state/budget.js';
export * from './decide/attempt-end.js';
export { ANY_DEVICE } from './decide/close.js';
export type { Control } from './decide/control.js';
export type { RoundFailure } from './decide/edit-cycle.js';
export { asksPlanner } from './decide/edit-rounds.js';
export { collectAnswer } from './decide/final-answer.js';
export * from './decide/decide.js';
export * from './fold/invariants.js';
export * from './views/event-text.js';
export * from './views/subtask-text.js';
export * from './decide/outcome.js';
export * from './edits/replacement.js';
export * from './views/diff.js';
export * from './report/report-commands.js';
export { planSayingsOf, type PlanSaying } from './views/plan-saying.js';
export { planStepsOf, type PlanStep } from './report/report-plans.js';
export * from './report/report.js';
export { cutParts, cutText, type CutPart } from './values/cut-parts.js';
export { attemptStories, eventsOf, type AttemptStory } from './views/attempt-story.js';
export * from './ufo/ufo.js';
export * from './views/metrics.js';
export { jsonBytes } from './values/json-bytes.js';
export * from './edits/tool-edits.js';
export * from './views/snapshot.js';
export { outOfScope } from './edits/scope.js';

/**
 * What a plan is and when it is sound: the graph, its conditions and their truths, checks of tasks and lines. Nothing here knows of
 * a run.
 */
export { findCycle, findCycleThrough } from './acyclic.js';
export { type Truth, checkCondition, evaluateCondition, undecided } from './condition.js';
export { type Graph, NO_GRAPH, buildGraph, descendantsOf, positionOf, sourceOf, targetOf } from './graph.js';
export { type Doomer, LINE_KINDS, type TaskEnding } from './line-types.js';
export { type Successors, topologicalOrder, widthOf } from './metrics-width.js';
export { Judge, KnownTruths, type Question, type Truths, judgedInPlace, truthOrQuestion } from './truth.js';
export {
  PatternCount,
  STDIN_FORMS,
  checkVerification,
  listOfIds,
  parseStdin,
  takesOutputs,
  unknownField,
  validateConstellation,
} from './validate.js';
export { wholeValue } from './whole-value.js';

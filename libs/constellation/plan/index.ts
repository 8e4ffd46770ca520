/**
 * What a plan is and when it is sound: the graph, its conditions and their truths, checks of tasks and lines. Nothing here knows of
 * a run.
 */
export { findCycle, findCycleThrough } from './acyclic.js';
export { checkCondition } from './condition.js';
export { buildGraph, descendantsOf, positionOf, sourceOf, targetOf } from './graph.js';
export type { Graph } from './graph.js';
export { orderOf, widthOf } from './metrics-width.js';
export type { Successors } from './metrics-width.js';
export { Judge } from './truth.js';
export type { Question, Truths } from './truth.js';
export {
  PatternCount,
  STDIN_FORMS,
  checkVerification,
  listed,
  parseStdin,
  takesOutputs,
  unknownField,
} from './validate.js';

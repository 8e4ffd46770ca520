/**
 * What a plan is and when it is sound: the graph, its conditions and their truths, checks of tasks and lines. Nothing here knows of
 * a run.
 */
export * from './acyclic.js';
export * from './content.js';
export { type Truth, boardNamesReadBy, checkCondition, evaluateCondition, undecided } from './condition.js';
export { patternOf } from './condition-pattern.js';
export { type Graph, NO_GRAPH, buildGraph, descendantsOf, positionOf, sourceOf, targetOf } from './graph.js';
export * from './files.js';
export * from './line-types.js';
export * from './metrics-width.js';
export * from './truth.js';
export * from './validate.js';
export * from './whole-value.js';
export { listOfIds } from '../values/index.js';
export * from './where.js';

export * from './condition.js';
export * from './graph.js';
export * from './validate.js';
export * from './run.js';
export * from './evolve.js';
export * from './view.js';

/** After a run: its evaluation, the words of a model about it, and what is kept of it. Where it is kept is the business of experience. */
export * from './evaluation.handler.js';
export * from './learning-queries.controller.js';
export * from './learning.handler.js';
export { Reflection } from './reflection.runner.js';

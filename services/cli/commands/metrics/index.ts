/** Figures over all runs that match, as the evaluation of the paper has them. */
export * from './metrics.command.js';

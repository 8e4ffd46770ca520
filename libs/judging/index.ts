/** What a condition is worth when a model has to say it. When it is asked, and what follows, is the run's. */
export * from './condition-judge.adapter.js';

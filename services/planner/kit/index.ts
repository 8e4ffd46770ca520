/** What plans are made with, read when the service starts: the model, the prompts, the runbooks. */
export * from './planner-kit.adapter.js';

/** What plans are made with: the model, the prompts, the runbooks. */
export * from './planner-kit.adapter.js';
export { RunbookShelf } from './runbook-shelf.adapter.js';
export * from './settings.controller.js';

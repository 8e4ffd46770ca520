/** The report of a run as Markdown, section by section. Everything that it says is in the facts. */
export * from './report-commands.js';
export { type PlanStep, planStepsOf } from './report-plans.js';
export * from './report.js';

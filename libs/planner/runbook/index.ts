/**
 * Plans that people have reviewed: how they are read, matched with a goal, filled in and saved again. Where their files lie is not
 * known here.
 */
export { matchGoal, type MatchedRunbook, type MatchIssues } from './match.js';
export { checkParameters, wanted as wantedValue } from './parameters.js';
export * from './parse.js';
export { planOfRunbook, type LeftOut, type RunbookPlan } from './plan.js';
export * from './runbook.js';
export * from './save.js';
export * from './secret-forms.js';

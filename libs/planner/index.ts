/**
 * The ConstellationAgent without the world around it: what it does next, what plan a request or a runbook comes to, and what a model
 * is told. Pure. Who asks models, reads logs and keeps runbooks lives in `services/planner`.
 */
export * from './moves/index.js';
export * from './prompter/index.js';
export * from './runbook/index.js';

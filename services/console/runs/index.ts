/** Requests, runs and verbs over HTTP: each route asks the bus and answers. Nothing is decided or stored here. */
export { ApprovalWord } from './approval-word.js';
export * from './approvals.controller.js';
export * from './attention.controller.js';
export * from './content-approvals.controller.js';
export * from './control.controller.js';
export * from './devices.controller.js';
export { RegistryWords } from './registry-words.client.js';
export * from './metrics.controller.js';
export * from './requests.controller.js';
export { RunNamesGuard } from './run-names.guard.js';
export { RunVerbs } from './run-verbs.client.js';
export * from './runs.controller.js';
export * from './search.controller.js';

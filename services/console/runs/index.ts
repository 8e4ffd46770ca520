/**
 * Requests, runs and verbs over HTTP: each route asks the bus and answers. Nothing is decided or stored here.
 */
export { ApprovalWord } from './approval-word.js';
export { ApprovalsController } from './approvals.controller.js';
export { ControlController } from './control.controller.js';
export { RequestsController } from './requests.controller.js';
export { RunVerbs } from './run-verbs.client.js';
export { RunsController } from './runs.controller.js';

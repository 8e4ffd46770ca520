/** What people say to a run that is there: the verbs, and their word about what an agent waits for. */
export * from './approvals.command.js';
export { defineControl } from './control.command.js';

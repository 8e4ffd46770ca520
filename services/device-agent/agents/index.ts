/**
 * Attempts of several steps: an agent is run, its effects are carried out and recorded one by one, its kit is read and announced. Which orders
 * there are, and what an exact command alone takes, is not decided here.
 */
export { AgentAttemptRunner } from './agent-attempt.runner.js';
export type { AgentAttemptParts } from './agent-attempt.runner.js';
export { loadAgentKit } from './kit.adapter.js';
export { announceAgents } from './members.adapter.js';
export type { Announcement } from './members.adapter.js';
export { agentRecords } from './records.adapter.js';

/**
 * Attempts of several steps: an agent is run, its effects are carried out and recorded one by one, its kit is read and announced. Which orders
 * there are, and what an exact command alone takes, is not decided here.
 */
export * from './agent-attempt.runner.js';
export * from './announcement.adapter.js';
export * from './kit.adapter.js';
export * from './records.adapter.js';

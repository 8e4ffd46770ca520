/** Which replicas are alive, which partitions each of them owns, and which agents they serve. */
export * from './assignment.js';
export * from './known-agents.js';
export * from './members.adapter.js';

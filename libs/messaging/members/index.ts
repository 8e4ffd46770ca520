/** Which replicas are alive, which partitions each of them owns, and which agents they serve. */
export { ownersOf, partitionsOf } from './assignment.js';
export { AGENTS_GRACE_MS, KnownAgents } from './known-agents.js';
export { Members, readMembers, type MembersOptions } from './members.adapter.js';

/**
 * Logs of facts: aggregates as chains of commits in streams, the one way to change one (`aggregate.ts`), reading on, reading live, and the same
 * without a server. What the facts of an aggregate mean is known to its core.
 */
export type { Appended, AttemptLog, EventLog, FleetLog, PlanLog, RunLog, Stored } from './event-log.js';
export { AppendError, CorruptLogError, LoadError } from './errors.js';
export {
  Aggregates,
  OVERTAKEN,
  ContendedError,
  NO_COMMITS,
  sealNext,
  TRIES_MAX,
  unchanged,
  uncontended,
} from './aggregate.js';
export type {
  AggregateKind,
  AggregateOptions,
  Beforehand,
  ChainEnd,
  AggregateChange,
  Changed,
  Overtaken,
  Loaded,
  Stamp,
} from './aggregate.js';
export { chainOver, encodeCommit } from './chain.js';
export type { Chain, ChainedCommit, Digest, VerifyOptions, Violation } from './chain.js';
export { hashCommit, sealCommit, verifyChain } from './sealing.js';
export { newCommitId, runIdOf } from './ids.js';
export { ATTEMPT_LOG, FLEET_LOG, PLAN_LOG, RUN_LOG } from './logs.js';
export type { AttemptLogKey, LogSpec } from './logs.js';
export {
  JetStreamEventLog,
  openAttemptLog,
  openFleetLog,
  openPlanLog,
  openRunLog,
} from './jetstream-event-log.adapter.js';
export { memoryAttemptLog, MemoryEventLog, memoryFleetLog, memoryPlanLog, memoryRunLog } from './memory-event-log.js';
export type { MemoryFault } from './memory-event-log.js';
export { parseCommits } from './parse-commit.js';
export type { ParseOptions, StoredBytes } from './parse-commit.js';
export { readOn } from './read-on.js';
export type { ReadOn } from './read-on.js';
export { readCommits } from './read-commits.adapter.js';
export type { ReadOptions, StreamEntry } from './read-commits.adapter.js';
export { lastSequence, readStored } from './read-stored.adapter.js';

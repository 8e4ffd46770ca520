import type {
  ActorCommit,
  ActorId,
  AttemptCommit,
  AttemptKey,
  AttemptSubjectKind,
  AttentionCommit,
  AttentionId,
  DeviceId,
  FleetCommit,
  PlanCommit,
  RunCommit,
  RunId,
} from '#proto';

/** A commit as it is stored, with the position of its message in the stream: what the next append expects. */
export interface Stored<C> {
  readonly commit: C;
  readonly sequence: number;
}

export type Appended = { readonly kind: 'appended'; readonly sequence: number } | { readonly kind: 'conflict' };

/**
 * Port: one chained log per aggregate inside a stream. `K` names the aggregate (for attempts also the subject kind that an
 * append goes to), `end` is the stream sequence of the aggregate's last message, 0 for none. Where a decision is about all
 * aggregates of a stream (`guard` of its LogSpec), `end` of an append is that of the last message of all of them.
 */
export interface EventLog<K, C> {
  /** Appends if the aggregate still ends at `end`. A lost ack is resolved by reading back; never guesses. Throws AppendError when nobody can say. */
  append(key: K, commit: C, end: number): Promise<Appended>;
  /** The aggregate's commits after stream sequence `after` (default 0: all), in order. Throws CorruptLogError when the chain is broken. */
  load(key: K, after?: number): Promise<Stored<C>[]>;
  /** Stream sequence of the aggregate's last message, read from the leader; 0 for none. */
  endsAt(key: K): Promise<number>;
}

export type RunLog = EventLog<RunId, RunCommit>;
export type AttemptLog = EventLog<AttemptKey & { kind?: AttemptSubjectKind }, AttemptCommit>;
export type PlanLog = EventLog<RunId, PlanCommit>;
export type FleetLog = EventLog<DeviceId, FleetCommit>;
export type ActorLog = EventLog<ActorId, ActorCommit>;
export type AttentionLog = EventLog<AttentionId, AttentionCommit>;

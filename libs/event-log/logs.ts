import type { z } from 'zod';
import {
  ActorCommit,
  AttemptCommit,
  AttentionCommit,
  FleetCommit,
  PlanCommit,
  RunCommit,
  STREAMS,
  subjects,
} from '#proto';
import type { ActorId, AttemptKey, AttemptSubjectKind, AttentionId, DeviceId, RunId } from '#proto';

/** Where the commits of one kind of aggregate lie. */
export interface LogSpec<K, C> {
  readonly stream: string;
  readonly schema: z.ZodType<C>;
  /** What an append is published to. */
  subject(key: K): string;
  /** All subjects of the aggregate: what is loaded, and what the expected sequence is about. The same for every writer. */
  filter(key: K): string;
  /** The subjects that the expected sequence of an append is about instead, because what is decided of one aggregate depends on the others. */
  readonly guard?: string;
}

export type AttemptLogKey = AttemptKey & { kind?: AttemptSubjectKind };

export const RUN_LOG: LogSpec<RunId, RunCommit> = {
  stream: STREAMS.RUNS.name,
  schema: RunCommit,
  subject: subjects.run,
  filter: subjects.run,
};

export const ATTEMPT_LOG: LogSpec<AttemptLogKey, AttemptCommit> = {
  stream: STREAMS.ATTEMPTS.name,
  schema: AttemptCommit,
  subject: (key) => subjects.attempt(key, key.kind ?? 'step'),
  filter: subjects.attemptFilter,
};

export const PLAN_LOG: LogSpec<RunId, PlanCommit> = {
  stream: STREAMS.PLANS.name,
  schema: PlanCommit,
  subject: subjects.plan,
  filter: subjects.plan,
};

export const FLEET_LOG: LogSpec<DeviceId, FleetCommit> = {
  stream: STREAMS.FLEET.name,
  schema: FleetCommit,
  subject: subjects.fleet,
  filter: subjects.fleet,
};

/** A key or a login belongs to one actor at a time, so nobody appends about one who has not seen what is said of all. */
export const ACTOR_LOG: LogSpec<ActorId, ActorCommit> = {
  stream: STREAMS.ACTORS.name,
  schema: ActorCommit,
  subject: subjects.actor,
  filter: subjects.actor,
  guard: subjects.anyActor,
};

export const ATTENTION_LOG: LogSpec<AttentionId, AttentionCommit> = {
  stream: STREAMS.ATTENTION.name,
  schema: AttentionCommit,
  subject: subjects.attention,
  filter: subjects.attention,
};

import type { z } from 'zod';
import { AttemptCommit, FleetCommit, PlanCommit, RunCommit, STREAMS, subjects } from '#proto';
import type { AttemptKey, AttemptSubjectKind, DeviceId, RunId } from '#proto';

/** Where the commits of one kind of aggregate lie. */
export interface LogSpec<K, C> {
  readonly stream: string;
  readonly schema: z.ZodType<C>;
  /** What an append is published to. */
  subject(key: K): string;
  /** All subjects of the aggregate: what is loaded, and what the expected sequence is about. The same for every writer. */
  filter(key: K): string;
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

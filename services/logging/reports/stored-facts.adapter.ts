import type { NatsConnection } from '@nats-io/transport-node';
import { attemptStories, planSayingsOf, type ReportInput } from '#libs/constellation';
import { readStored, type StreamEntry } from '#libs/event-log';
import {
  AttemptCommit,
  parseJson,
  PlanCommit,
  subjects,
  type RecordedAttemptEvent,
  type RecordedPlanEvent,
  type RunCommit,
  type RunId,
} from '#proto';

/** Of commits of one stream that one report is made from; what stands behind them is not told in it. */
const FACTS_BYTES_MAX = 64 * 1024 * 1024;

/** `bytesMax`: of the commits that are read. */
interface Reading {
  readonly signal?: AbortSignal;
  readonly bytesMax?: number;
}

/** Some task of the run was done by an agent. */
export function hasAgents(commits: readonly RunCommit[]): boolean {
  return commits.some(({ events }) =>
    events.some((event) => event.type === 'TASK_STARTED' && event.data.command === undefined),
  );
}

/** Somebody was asked about this run. */
export function hasRounds(commits: readonly RunCommit[]): boolean {
  return commits.some(({ events }) => events.some(({ type }) => type === 'EDIT_OPENED'));
}

/** `attemptsAreCut`: there is more in the log than was read. */
export type Stories = Pick<ReportInput, 'attempts' | 'attemptsAreCut'>;
/** `sayingsAreCut`: there is more in the log than was read. */
export type Sayings = Pick<ReportInput, 'sayings' | 'sayingsAreCut'>;

/**
 * What agents did, out of their own facts: what they said is long, is read once, and stands in ATTEMPTS for good, so it is
 * in no table. A commit that cannot be read is left out: `verify` says what is wrong with it.
 */
export async function storiesOf(nc: NatsConnection, runId: RunId, reading?: Reading): Promise<Stories> {
  const stored = readStored(nc, 'ATTEMPTS', subjects.attemptsOfRun(runId), reading?.signal);
  const { commits, isCut } = await readFacts(stored, reading, (json) => {
    const { data } = AttemptCommit.safeParse(json);
    return data && { ...data, events: data.events.map(withoutReplies) };
  });
  return { attempts: attemptStories(commits), attemptsAreCut: isCut };
}

/** What the planner said, out of its own facts, as what agents did is read: it is long and in no table. */
export async function sayingsOf(nc: NatsConnection, runId: RunId, reading?: Reading): Promise<Sayings> {
  const stored = readStored(nc, 'PLANS', subjects.plan(runId), reading?.signal);
  const { commits, isCut } = await readFacts(stored, reading, (json) => {
    const { data } = PlanCommit.safeParse(json);
    return data && { ...data, events: data.events.map(withoutPlannersReplies) };
  });
  return { sayings: planSayingsOf(commits), sayingsAreCut: isCut };
}

async function readFacts<C>(
  stored: AsyncIterable<StreamEntry>,
  { bytesMax = FACTS_BYTES_MAX }: Reading = {},
  commitOf: (json: unknown) => C | undefined,
): Promise<{ readonly commits: C[]; readonly isCut: boolean }> {
  const commits: C[] = [];
  let bytes = 0;
  for await (const { data } of stored) {
    bytes += data.length;
    if (bytes > bytesMax) return { commits, isCut: true };
    const commit = commitOf(parseJson(data));
    if (commit !== undefined) commits.push(commit);
  }
  return { commits, isCut: false };
}

/** A report tells what replies meant, never what they were: they may have 256 KiB each. */
function withoutReplies(event: RecordedAttemptEvent): RecordedAttemptEvent {
  if (event.type !== 'STEP_PLANNED' && event.type !== 'STEP_FAILED') return event;
  const calls = event.data.calls.map((call) => ({ ...call, reply: null }));
  if (event.type === 'STEP_FAILED') return { ...event, data: { ...event.data, calls } };
  return { ...event, data: { ...event.data, calls, reply: null } };
}

function withoutPlannersReplies(event: RecordedPlanEvent): RecordedPlanEvent {
  return event.type === 'ROUND_PLANNED' ? { ...event, data: { ...event.data, calls: [], reply: null } } : event;
}

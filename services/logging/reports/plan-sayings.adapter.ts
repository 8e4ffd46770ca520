import type { NatsConnection } from '@nats-io/transport-node';
import { planSayingsOf, type PlanSaying } from '#libs/constellation';
import { readStored } from '#libs/event-log';
import { PlanCommit, subjects, parseJson, type RecordedPlanEvent, type RunCommit, type RunId } from '#proto';

/** Of commits of plans that one report is made from; what was said later is not told in it. */
export const SAYINGS_BYTES_MAX = 64 * 1024 * 1024;

export interface Sayings {
  readonly sayings: readonly PlanSaying[];
  /** There is more in the log than was read. */
  readonly sayingsAreCut: boolean;
}

/** Somebody was asked about this run. */
export function hasRounds(commits: readonly RunCommit[]): boolean {
  return commits.some(({ events }) => events.some(({ type }) => type === 'EDIT_OPENED'));
}

/** What the planner said, out of its own facts, as what agents did is read: it is long and in no table. */
export async function sayingsOf(
  nc: NatsConnection,
  runId: RunId,
  { signal, bytesMax = SAYINGS_BYTES_MAX }: { readonly signal?: AbortSignal; readonly bytesMax?: number } = {},
): Promise<Sayings> {
  const commits: PlanCommit[] = [];
  let bytes = 0;
  for await (const { data } of readStored(nc, 'PLANS', subjects.plan(runId), signal)) {
    bytes += data.length;
    if (bytes > bytesMax) return { sayings: planSayingsOf(commits), sayingsAreCut: true };
    const parsed = PlanCommit.safeParse(parseJson(data));
    if (parsed.success) commits.push({ ...parsed.data, events: parsed.data.events.map(withoutReplies) });
  }
  return { sayings: planSayingsOf(commits), sayingsAreCut: false };
}

/** A report tells what replies meant, never what they were. */
function withoutReplies(event: RecordedPlanEvent): RecordedPlanEvent {
  return event.type === 'ROUND_PLANNED' ? { ...event, data: { ...event.data, calls: [], reply: null } } : event;
}

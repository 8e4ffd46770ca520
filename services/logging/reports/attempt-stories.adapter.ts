import type { NatsConnection } from '@nats-io/transport-node';
import { attemptStories, type AttemptStory } from '#libs/constellation';
import { readStored } from '#libs/event-log';
import { AttemptCommit, subjects, parseJson, type RecordedAttemptEvent, type RunCommit, type RunId } from '#proto';

/** Of commits of attempts that one report is made from; the steps behind are not told in it. */
export const STORY_BYTES_MAX = 64 * 1024 * 1024;

export interface Stories {
  readonly attempts: readonly AttemptStory[];
  /** There is more in the log than was read. */
  readonly attemptsAreCut: boolean;
}

/** Some task of the run was done by an agent. */
export function hasAgents(commits: readonly RunCommit[]): boolean {
  return commits.some(({ events }) =>
    events.some((event) => event.type === 'TASK_STARTED' && event.data.command === undefined),
  );
}

/**
 * What agents did, out of their own facts: what they said is long, is read once, and stands in ATTEMPTS for good, so it is
 * in no table. A commit that cannot be read is left out: `verify` says what is wrong with it.
 */
export async function storiesOf(
  nc: NatsConnection,
  runId: RunId,
  { signal, bytesMax = STORY_BYTES_MAX }: { readonly signal?: AbortSignal; readonly bytesMax?: number } = {},
): Promise<Stories> {
  const commits: AttemptCommit[] = [];
  let bytes = 0;
  for await (const { data } of readStored(nc, 'ATTEMPTS', subjects.attemptsOfRun(runId), signal)) {
    bytes += data.length;
    if (bytes > bytesMax) return { attempts: attemptStories(commits), attemptsAreCut: true };
    const parsed = AttemptCommit.safeParse(parseJson(data));
    if (parsed.success) commits.push({ ...parsed.data, events: parsed.data.events.map(withoutReplies) });
  }
  return { attempts: attemptStories(commits), attemptsAreCut: false };
}

/** A report tells what replies meant, never what they were: they may have 256 KiB each. */
function withoutReplies(event: RecordedAttemptEvent): RecordedAttemptEvent {
  if (event.type !== 'STEP_PLANNED' && event.type !== 'STEP_FAILED') return event;
  const calls = event.data.calls.map((call) => ({ ...call, reply: null }));
  if (event.type === 'STEP_FAILED') return { ...event, data: { ...event.data, calls } };
  return { ...event, data: { ...event.data, calls, reply: null } };
}

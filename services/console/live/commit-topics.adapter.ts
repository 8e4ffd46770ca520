import type { NatsConnection } from '@nats-io/transport-node';
import { readCommits } from '#libs/event-log';
import { lastStored } from '#libs/messaging';
import { STREAMS, subjects, type LiveMessage, type LiveTopic, type RunId } from '#proto';
import { BusStanding } from './bus-standing.adapter.js';
import { ChannelError, type Channel } from './channel.js';

type CommitTopic = Extract<LiveTopic, { readonly kind: 'run' | 'attempts' | 'plans' }>;

interface Log {
  readonly stream: 'RUNS' | 'ATTEMPTS' | 'PLANS';
  readonly filter: (run: RunId) => string;
  readonly kind: LiveMessage['kind'];
}

const LOGS: Readonly<Record<CommitTopic['kind'], Log>> = {
  run: { stream: 'RUNS', filter: subjects.run, kind: 'commit' },
  attempts: { stream: 'ATTEMPTS', filter: subjects.attemptsOfRun, kind: 'attempt-commit' },
  plans: { stream: 'PLANS', filter: subjects.plan, kind: 'plan-commit' },
};

/** What lies here of a log that a client reads more slowly than it is read for him. */
const READ_AHEAD = 16;

/** The commits of a run, as they are stored, behind the place that its reader knows: for as long as anybody listens, since a run that has ended may be opened again. */
export async function followCommits(
  nc: NatsConnection,
  { kind, run, after = 0 }: CommitTopic,
  channel: Channel,
): Promise<void> {
  const { stream, filter: filterOf, kind: said } = LOGS[kind];
  const filter = filterOf(run);
  const standing = new BusStanding(nc, channel, () => lastStored(nc, STREAMS[stream].name, filter));
  if (!(await isThere(nc, run))) throw new ChannelError('NOT_FOUND', `There is no run ${run}.`);
  await standing.begin(after);
  const { signal } = channel;
  const options = {
    afterSequence: after,
    filter,
    signal,
    readAheadMessages: READ_AHEAD,
    onInterrupted: () => void standing.interrupted(),
  };
  const decoder = new TextDecoder();
  for await (const { sequence, data } of readCommits(nc, stream, options)) {
    // As it was stored: whoever reads it can prove it.
    if (!(await channel.sayJson(`"kind":"${said}","sequence":${sequence},"commit":${decoder.decode(data)}`))) return;
    await standing.reached(sequence);
  }
}

/** Throws ChannelError when that cannot be found out. */
export async function isThere(nc: NatsConnection, run: RunId): Promise<boolean> {
  try {
    return (await lastStored(nc, STREAMS.RUNS.name, subjects.run(run))) > 0;
  } catch {
    throw new ChannelError('UNAVAILABLE', 'The bus cannot be reached now.');
  }
}

import type { ConsumerInfo } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { firstStored, managerOf, storedPage } from '#libs/messaging';
import type { Clock, Metrics } from '#libs/platform';
import { DURABLE_STREAMS, STREAMS, subjects } from '#proto';

const TIMERS = STREAMS.TIMERS.name;

export interface BusFiguresParts {
  readonly nc: NatsConnection;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

/**
 * How far everybody is with what waits on the bus. Told here, for all services and for systems outside, because one that is away
 * cannot tell itself. Every replica tells the same.
 */
export function busFigures({ nc, clock, metrics }: BusFiguresParts): void {
  const labels = ['stream', 'durable'] as const;
  const pending = metrics.gauge('durable_lag_messages', 'Messages that a durable has not acknowledged', labels);
  const seconds = metrics.gauge(
    'durable_lag_seconds',
    'Age of the first message that a durable has not acknowledged',
    labels,
  );
  const again = metrics.gauge('durable_redelivered_messages', 'Messages in work that were delivered before', labels);
  metrics.look('durables', [pending, seconds, again], async () => {
    const infos = (await Promise.all(DURABLE_STREAMS.map((stream) => durablesOf(nc, stream)))).flat();
    const now = clock.now();
    await Promise.all(
      infos.map(async (info) => {
        const labelled = { stream: info.stream_name, durable: info.name };
        const waiting = info.num_pending + info.num_ack_pending;
        pending.set(labelled, waiting);
        again.set(labelled, info.num_redelivered);
        seconds.set(labelled, waiting === 0 ? 0 : await ageOfFirst(nc, info, now));
      }),
    );
  });

  const timers = metrics.gauge('timers_armed', 'Wake-ups that are stored and not due yet', ['of']);
  metrics.look('timers', [timers], async () => {
    timers.set({ of: 'runs' }, await countOf(nc, subjects.anyRunTimer));
    timers.set({ of: 'devices' }, await countOf(nc, subjects.anyDeviceTimer));
  });

  const letters = metrics.gauge('dead_letters', 'Dead letters that nobody has handed again or dropped', ['owner']);
  metrics.look('dead_letters', [letters], async () => {
    const { state } = await (await managerOf(nc)).streams.info(STREAMS.DLQ.name, { subjects_filter: subjects.anyDlq });
    for (const [subject, count] of Object.entries(state.subjects ?? {}))
      letters.inc({ owner: ownerOf(subject) }, count);
    if (state.messages === 0) letters.set({ owner: 'nobody' }, 0);
  });
}

async function durablesOf(nc: NatsConnection, stream: string): Promise<ConsumerInfo[]> {
  const found: ConsumerInfo[] = [];
  for await (const info of (await managerOf(nc)).consumers.list(stream)) found.push(info);
  return found;
}

/** In seconds by the server's clock of storing and ours; 0 when it was acknowledged meanwhile. */
async function ageOfFirst(nc: NatsConnection, info: ConsumerInfo, now: number): Promise<number> {
  const { stream_name: stream, ack_floor: floor, config } = info;
  const filters = config.filter_subjects ?? [config.filter_subject ?? '>'];
  const found = await Promise.all(
    filters.map((filter) => firstStored(nc, { stream, filter, after: floor.stream_seq })),
  );
  const ages = found.flatMap((message) => (message === null ? [] : [now - message.time.getTime()]));
  return Math.max(0, ...ages) / 1_000;
}

/** Messages of TIMERS on these subjects: the first one says how many are behind it. */
async function countOf(nc: NatsConnection, filter: string): Promise<number> {
  const { messages, pending, failure } = await storedPage(nc, { stream: TIMERS, filter, after: 0, messagesMax: 1 });
  if (failure !== undefined) throw new Error(`${TIMERS} cannot be read`, { cause: failure });
  return messages.length + pending;
}

/** Whose dead letters lie on a subject. */
const ownerOf = (subject: string): string => subject.slice(subject.lastIndexOf('.') + 1);

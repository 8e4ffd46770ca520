import type { NatsConnection } from '@nats-io/transport-node';
import { storedPage } from '#libs/messaging';
import type { Clock, Metrics, Postgres } from '#libs/platform';
import { STREAMS } from '#proto';
import { CheckpointEntity } from '../entities/index.js';

/** Of each projection what it reads. */
const FOLLOWED: Readonly<Record<string, keyof typeof STREAMS>> = {
  RUNS: 'RUNS',
  ATTEMPTS: 'ATTEMPTS',
  PLANS: 'PLANS',
  FLEET: 'FLEET',
  ATTENTION: 'ATTENTION',
  SEARCH: 'ATTEMPTS',
  FIGURES: 'RUNS',
};

export interface ProjectionFiguresParts {
  readonly nc: NatsConnection;
  readonly postgres: Postgres;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

/** How far what people see is behind the log: also of a projection that stands still, and the same from every replica. */
export function projectionFigures({ nc, postgres, clock, metrics }: ProjectionFiguresParts): void {
  const lag = metrics.gauge('logging_lag_messages', 'Commits that are not projected yet', ['stream']);
  const seconds = metrics.gauge('logging_lag_seconds', 'Age of the first commit that is not projected yet', ['stream']);
  metrics.look('projections', [lag, seconds], async () => {
    if (!postgres.isReady()) throw new Error('PostgreSQL is not there yet');
    const checkpoints = await (await postgres.ready()).getRepository(CheckpointEntity).find();
    const reached = new Map(checkpoints.map(({ name, sequence }) => [name, sequence]));
    const now = clock.now();
    await Promise.all(
      Object.entries(FOLLOWED).map(async ([name, stream]) => {
        const [filter] = STREAMS[stream].subjects;
        const after = reached.get(name) ?? 0;
        const { messages, pending, failure } = await storedPage(nc, { stream, filter, after, messagesMax: 1 });
        if (failure !== undefined) throw new Error(`${stream} cannot be read`, { cause: failure });
        const [first] = messages;
        lag.set({ stream: name }, messages.length + pending);
        seconds.set({ stream: name }, first === undefined ? 0 : Math.max(0, now - first.time.getTime()) / 1_000);
      }),
    );
  });
}

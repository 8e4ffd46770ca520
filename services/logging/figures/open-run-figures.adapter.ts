import type { DataSource } from 'typeorm';
import type { Clock, Metrics, Postgres } from '#libs/platform';
import { RunStatus } from '#proto';
import { RunEntity } from '../entities/index.js';

const OVER: ReadonlySet<RunStatus> = new Set(['COMPLETED', 'FAILED', 'CANCELLED']);
const OPEN = RunStatus.options.filter((status) => !OVER.has(status));

export interface RunFiguresParts {
  readonly postgres: Postgres;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

/** Runs that have not ended, and what they wait for people for, as the projection shows it. Every replica tells the same. */
export function openRunFigures({ postgres, clock, metrics }: RunFiguresParts): void {
  const open = metrics.gauge('runs_open', 'Runs that have not ended, by their status', ['status']);
  const approvals = metrics.gauge('approvals_waiting', 'Approvals and questions that wait for a person');
  const oldest = metrics.gauge('approvals_oldest_seconds', 'How long the oldest of them has been waiting');
  metrics.look('runs', [open, approvals, oldest], async () => {
    if (!postgres.isReady()) throw new Error('PostgreSQL is not there yet');
    const source = await postgres.ready();
    const counts = new Map((await countsOf(source)).map(({ status, count }) => [status, Number(count)]));
    for (const status of OPEN) open.set({ status }, counts.get(status) ?? 0);
    const asked = await openAsksOf(source);
    approvals.set(asked.length);
    const since = Math.min(...asked.map(({ requestedAt }) => Date.parse(requestedAt)));
    oldest.set(asked.length === 0 ? 0 : Math.max(0, clock.now() - since) / 1_000);
  });
}

function countsOf(source: DataSource): Promise<{ status: string; count: string }[]> {
  return source
    .getRepository(RunEntity)
    .createQueryBuilder('run')
    .select('run.status', 'status')
    .addSelect('count(*)', 'count')
    .where('run.status in (:...open)', { open: OPEN })
    .groupBy('run.status')
    .getRawMany();
}

async function openAsksOf(source: DataSource): Promise<{ requestedAt: string }[]> {
  const rows = await source
    .getRepository(RunEntity)
    .createQueryBuilder('run')
    .select('run.runId')
    .addSelect('run.approvals')
    .where('run.approvalsOpen > 0')
    .getMany();
  return rows.flatMap(({ approvals }) => approvals).filter(({ state }) => state === 'open');
}

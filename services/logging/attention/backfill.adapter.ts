import type { Logger } from 'pino';
import { In, type DataSource, type EntityManager } from 'typeorm';
import { attentionOfRun } from '#libs/attention';
import { foldRun, strandedOf, viewOf } from '#libs/constellation';
import { stopping, untilItWorks, type Postgres } from '#libs/platform';
import { AttentionEntity, attentionRow, CheckpointEntity, CommitEntity, RunEntity } from '../entities/index.js';
import { upsertRows } from '../projection/index.js';

/** Stands among the checkpoints once the runs that were projected before there was an inbox are in it. */
const MARK = 'attention of runs';
const RUNS_AT_ONCE = 100;

/** The same database, ready as soon as the inbox knows the runs that an earlier version has projected: once for a database. */
export function backfilled(postgres: Pick<Postgres, 'ready'>, logger: Logger): Pick<Postgres, 'ready'> {
  const fill = async (): Promise<DataSource> => {
    const source = await postgres.ready();
    const runs = await source.transaction(fillOnce);
    if (runs > 0) logger.info({ runs }, 'attention: runs of an earlier version looked through');
    return source;
  };
  const ready = untilItWorks(fill, { what: 'attention', logger, signal: stopping.signal });
  // A part that needs the rejection waits for `ready()`; a stop before that is no failure.
  ready.catch(() => undefined);
  return { ready: () => ready };
}

/** How many runs were looked through; whoever comes second finds the mark. */
async function fillOnce(manager: EntityManager): Promise<number> {
  const marks = manager.getRepository(CheckpointEntity);
  await marks.createQueryBuilder().insert().values({ name: MARK, sequence: 0, index: 0 }).orIgnore().execute();
  // The row is ours until the end of the transaction: another replica waits here.
  const moved = await marks.update({ name: MARK, sequence: 0 }, { sequence: 1 });
  if (moved.affected !== 1) return 0;
  // Nobody projects a commit of a run meanwhile.
  await manager.query(`lock table ${manager.connection.getMetadata(CommitEntity).tablePath} in share mode`);
  const ids = await candidates(manager);
  for (let start = 0; start < ids.length; start += RUNS_AT_ONCE) {
    await fillRuns(manager, ids.slice(start, start + RUNS_AT_ONCE));
  }
  return ids.length;
}

/** Runs of which something may need somebody. */
async function candidates(manager: EntityManager): Promise<string[]> {
  const rows = await manager
    .createQueryBuilder(RunEntity, 'run')
    .select('run.runId')
    .where(`run.endedAt is null or run.status = 'FAILED' or run.outcome = 'partially_failed'`)
    .orWhere('run.status = :cancelled', { cancelled: 'CANCELLED' })
    .orderBy('run.runId')
    .getMany();
  return rows.map(({ runId }) => runId);
}

async function fillRuns(manager: EntityManager, ids: readonly string[]): Promise<void> {
  const commits = await manager.find(CommitEntity, {
    where: { runId: In([...ids]) },
    order: { runId: 'ASC', number: 'ASC' },
  });
  const entries = [...Map.groupBy(commits, ({ runId }) => runId).values()].flatMap((own) => {
    const run = foldRun(own.map(({ commit }) => commit));
    return run === undefined ? [] : attentionOfRun(viewOf(run), strandedOf(run));
  });
  await upsertRows(
    manager,
    AttentionEntity,
    entries.map((entry) => attentionRow(entry)),
  );
}

import { type DataSource, type EntityManager, IsNull, MoreThan, Not } from 'typeorm';
import { partsOfLabel, type ApprovalView, type RunId, type RunSummary, type RunView } from '#proto';
import type { ReportInput } from '#libs/constellation';
import { refused, type QueryAnswer, type QueryRequest } from '#libs/messaging';
import type { Postgres } from '#libs/platform';
import {
  BrokenRunEntity,
  CommandEntity,
  CommitEntity,
  LineEntity,
  PlanStepEntity,
  ReportEntity,
  RunEntity,
  RunLabelEntity,
  TaskEntity,
  type ReportRow,
  type RunRow,
} from '../entities/index.js';
import { summaryOfRow, viewOfRows } from './run-rows.js';
import { upsertRows } from './write.adapter.js';

/** Runs whose report is written in one go. */
const REPORTS_AT_ONCE = 20;

/** Which runs somebody looks for: those for which all holds that is said. */
export type RunsWanted = Omit<QueryRequest<'logging', 'runs'>, 'limit'> & { readonly limit: number };

/** Reads of the projection. What belongs together is read from one snapshot, so a run is never shown half way through a commit. */
export class ProjectionReader {
  readonly #postgres: Postgres;

  constructor(postgres: Postgres) {
    this.#postgres = postgres;
  }

  /** Newest first; one more than `limit` when there are more. Throws QueryRefusedError when there is no run `before`. */
  async listRuns(wanted: RunsWanted): Promise<RunSummary[]> {
    const rows = await runsWanted(await this.#source(), wanted);
    return rows.map(summaryOfRow);
  }

  /** Over all runs, newest first; `isOpen`: only those that wait for a person. */
  async listApprovals({ isOpen, limit }: { isOpen: boolean; limit: number }): Promise<ApprovalView[]> {
    const repository = (await this.#source()).getRepository(RunEntity);
    const order = { requestedAt: 'DESC', runId: 'ASC' } as const;
    // Each run that asks has at least one.
    const rows = isOpen
      ? await repository.find({ where: { approvalsOpen: MoreThan(0) }, order, take: limit })
      : await repository
          .createQueryBuilder('run')
          .where(`run.approvals::text <> '[]'`)
          .orderBy('run.requestedAt', 'DESC')
          .limit(limit)
          .getMany();
    return rows
      .flatMap(({ approvals }) => approvals)
      .filter(({ state }) => !isOpen || state === 'open')
      .sort((left, right) => (left.requestedAt < right.requestedAt ? 1 : -1))
      .slice(0, limit);
  }

  /** What devices work on, the newest first. */
  async tasksAtWork(limit: number): Promise<QueryAnswer<'logging', 'at-work'>['tasks']> {
    const rows = await (
      await this.#source()
    )
      .getRepository(TaskEntity)
      .find({ where: { status: 'RUNNING', device: Not(IsNull()) }, order: { startedAt: 'DESC' }, take: limit });
    return rows.flatMap(({ device, runId, id: taskId, name, startedAt }) =>
      device === null ? [] : [{ deviceId: device, runId, taskId, name, startedAt }],
    );
  }

  /** As `viewOf` shows the fold of the same commits; undefined when nothing of the run is projected. */
  readRun(runId: RunId): Promise<RunView | undefined> {
    return this.#snapshot((manager) => readRun(manager, runId));
  }

  /** All that a report tells. */
  readReportInput(runId: RunId): Promise<ReportInput | undefined> {
    return this.#snapshot(async (manager) => {
      const run = await readRun(manager, runId);
      if (run === undefined) return undefined;
      const rows = await manager.find(CommitEntity, { where: { runId }, order: { streamSequence: 'ASC' } });
      const commands = await manager.find(CommandEntity, { where: { runId }, order: { streamSequence: 'ASC' } });
      const commits = rows
        .map(({ commit }) => commit)
        .filter(({ events }) => (events[0]?.sequence ?? 0) <= run.sequence);
      const plans = await manager.find(PlanStepEntity, { where: { runId }, order: { number: 'ASC', index: 'ASC' } });
      return { run, commits, commands, plans };
    });
  }

  /** The stored report of this state of the run. */
  async readReport(runId: RunId, sequence: number): Promise<string | undefined> {
    const source = await this.#source();
    return (await source.getRepository(ReportEntity).findOneBy({ runId, sequence }))?.markdown;
  }

  async storeReport(report: ReportRow): Promise<void> {
    await upsertRows((await this.#source()).manager, ReportEntity, [report]);
  }

  /** Runs that ended and have no report of their last state yet. */
  async runsWithoutReport(): Promise<RunId[]> {
    const source = await this.#source();
    const rows = await source
      .getRepository(RunEntity)
      .createQueryBuilder('run')
      .leftJoin(ReportEntity.options.name, 'report', 'report.runId = run.runId and report.sequence = run.sequence')
      .where('run.endedAt is not null and report.runId is null')
      .orderBy('run.endedAt')
      .limit(REPORTS_AT_ONCE)
      .getMany();
    return rows.map(({ runId }) => runId);
  }

  /** Why a run is not projected any further; undefined for all others. */
  async whyBroken(runId: RunId): Promise<string | undefined> {
    const source = await this.#source();
    return (await source.getRepository(BrokenRunEntity).findOneBy({ runId }))?.reason;
  }

  async #snapshot<T>(read: (manager: EntityManager) => Promise<T>): Promise<T> {
    return (await this.#source()).transaction('REPEATABLE READ', read);
  }

  /** Never waits for a server that is away: whoever asks is refused at once. */
  #source(): Promise<DataSource> {
    if (!this.#postgres.isReady()) return Promise.reject(refused('TRY_AGAIN', 'PostgreSQL is not there yet.'));
    return this.#postgres.ready();
  }
}

async function readRun(manager: EntityManager, runId: RunId): Promise<RunView | undefined> {
  const run = await manager.findOneBy(RunEntity, { runId });
  if (run === null) return undefined;
  const tasks = await manager.find(TaskEntity, { where: { runId }, order: { position: 'ASC' } });
  const lines = await manager.find(LineEntity, { where: { runId }, order: { position: 'ASC' } });
  return viewOfRows(run, tasks, lines);
}

/** Newest first, one more than `limit` when there are more. */
async function runsWanted(source: DataSource, wanted: RunsWanted): Promise<RunRow[]> {
  const { limit, status, by, device, since, before, id, label = [] } = wanted;
  const query = source
    .getRepository(RunEntity)
    .createQueryBuilder('run')
    .orderBy('run.requestedAt', 'DESC')
    // Both ways round alike: that is how an index has them.
    .addOrderBy('run.runId', 'DESC')
    .limit(limit + 1);
  if (status !== undefined) query.andWhere('run.status in (:...status)', { status });
  if (by !== undefined) query.andWhere('run.requestedBy = :by', { by });
  if (since !== undefined) query.andWhere('run.requestedAt >= :since', { since });
  // An id has letters and digits only: nothing in it is a pattern.
  if (id !== undefined) query.andWhere('run.runId like :id', { id: `${id}%` });
  if (device !== undefined) {
    const tasks = query.subQuery().select('1').from(TaskEntity, 'task');
    query.andWhere(`exists ${tasks.where('task.runId = run.runId and task.device = :device').getQuery()}`, { device });
  }
  for (const [index, selector] of label.entries()) {
    const { key, value } = partsOfLabel(selector);
    const labels = query.subQuery().select('has.runId').from(RunLabelEntity, 'has').where(`has.key = :key${index}`);
    if (value !== undefined) labels.andWhere(`has.value = :value${index}`);
    query.andWhere(`run.runId in ${labels.getQuery()}`, { [`key${index}`]: key, [`value${index}`]: value });
  }
  if (before !== undefined) {
    const last = await source.getRepository(RunEntity).findOneBy({ runId: before });
    if (last === null) {
      const issues = [{ path: 'before', message: 'must be the id of a run' }];
      throw refused('NOT_FOUND', `There is no run ${before}.`, issues);
    }
    const { requestedAt } = last;
    query.andWhere('(run.requestedAt, run.runId) < (:requestedAt, :before)', { requestedAt, before });
  }
  return query.getMany();
}

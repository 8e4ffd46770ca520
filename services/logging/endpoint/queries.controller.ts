import { Inject } from '@nestjs/common';
import type { RunId } from '#proto';
import { refused, type QueryAnswer, type QueryName, type QueryRequest } from '#libs/messaging';
import { Answers, TakesMessages } from '#libs/platform';
import { ProjectionReader } from '../projection/index.js';
import { ReportWriter } from '../reports/index.js';
import { inOneMessage } from './in-one-message.js';
import { SearchReader } from '../search/index.js';
import { StatisticsReader } from '../statistics/index.js';

const RUNS_DEFAULT = 100;
const APPROVALS_DEFAULT = 100;
const AT_WORK_MAX = 1_000;

type Question<N extends QueryName<'logging'>> = QueryRequest<'logging', N>;
type Answer<N extends QueryName<'logging'>> = Promise<QueryAnswer<'logging', N>>;

/** `runs`, `run`, `approvals`, `report`, `search` and `metrics`, from Postgres. */
@TakesMessages()
export class LoggingQueries {
  readonly #reader: ProjectionReader;
  readonly #reports: ReportWriter;
  readonly #search: SearchReader;
  readonly #statistics: StatisticsReader;

  constructor(
    @Inject(ProjectionReader) reader: ProjectionReader,
    @Inject(ReportWriter) reports: ReportWriter,
    @Inject(SearchReader) search: SearchReader,
    @Inject(StatisticsReader) statistics: StatisticsReader,
  ) {
    this.#reader = reader;
    this.#reports = reports;
    this.#search = search;
    this.#statistics = statistics;
  }

  @Answers('logging', 'runs')
  async runs({ limit = RUNS_DEFAULT, ...wanted }: Question<'runs'>): Answer<'runs'> {
    const found = await this.#reader.listRuns({ ...wanted, limit });
    const more = found.length > limit ? { more: true as const } : {};
    return inOneMessage({ runs: found.slice(0, limit), ...more });
  }

  @Answers('logging', 'approvals')
  async approvals({ state = 'open', limit = APPROVALS_DEFAULT }: Question<'approvals'>): Answer<'approvals'> {
    return inOneMessage({ approvals: await this.#reader.listApprovals({ isOpen: state === 'open', limit }) });
  }

  @Answers('logging', 'at-work')
  async atWork(): Answer<'at-work'> {
    return inOneMessage({ tasks: await this.#reader.tasksAtWork(AT_WORK_MAX) });
  }

  @Answers('logging', 'run')
  async run({ runId }: Question<'run'>): Answer<'run'> {
    return inOneMessage({ run: await this.#known(runId, await this.#reader.readRun(runId)) });
  }

  @Answers('logging', 'report')
  async report({ runId }: Question<'report'>): Answer<'report'> {
    return inOneMessage({ runId, markdown: await this.#known(runId, await this.#reports.reportOf(runId)) });
  }

  @Answers('logging', 'search')
  async search(request: Question<'search'>): Answer<'search'> {
    return inOneMessage(await this.#search.search(request));
  }

  @Answers('logging', 'metrics')
  async metrics(request: Question<'metrics'>): Answer<'metrics'> {
    return inOneMessage(await this.#statistics.figures(request));
  }

  async #known<T>(runId: RunId, found: T | undefined): Promise<T> {
    if (found !== undefined) return found;
    const broken = await this.#reader.whyBroken(runId);
    const message = broken === undefined ? `There is no run ${runId}.` : `The run ${runId} cannot be shown: ${broken}.`;
    throw refused('NOT_FOUND', message);
  }
}

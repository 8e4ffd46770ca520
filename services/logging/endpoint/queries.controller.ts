import { Inject } from '@nestjs/common';
import { LIMITS, type RunId } from '#proto';
import { refused, type QueryAnswer, type QueryName, type QueryRequest } from '#libs/messaging';
import { Answers, TakesMessages } from '#libs/platform';
import { ProjectionReader } from '../projection/index.js';
import { ReportWriter } from '../reports/index.js';

const RUNS_DEFAULT = 100;
const APPROVALS_DEFAULT = 100;
/** Room for the envelope of the answer. */
const ANSWER_BYTES_MAX = LIMITS.natsPayloadBytesMax - 64 * 1024;

type Request<N extends QueryName<'logging'>> = QueryRequest<'logging', N>;
type Answer<N extends QueryName<'logging'>> = Promise<QueryAnswer<'logging', N>>;

/** `runs`, `run`, `approvals` and `report`, from Postgres. */
@TakesMessages()
export class LoggingQueries {
  readonly #reader: ProjectionReader;
  readonly #reports: ReportWriter;

  constructor(@Inject(ProjectionReader) reader: ProjectionReader, @Inject(ReportWriter) reports: ReportWriter) {
    this.#reader = reader;
    this.#reports = reports;
  }

  @Answers('logging', 'runs')
  async runs({ limit = RUNS_DEFAULT }: Request<'runs'>): Answer<'runs'> {
    return fitting({ runs: await this.#reader.listRuns(limit) });
  }

  @Answers('logging', 'approvals')
  async approvals({ state = 'open', limit = APPROVALS_DEFAULT }: Request<'approvals'>): Answer<'approvals'> {
    return fitting({ approvals: await this.#reader.listApprovals({ isOpen: state === 'open', limit }) });
  }

  @Answers('logging', 'run')
  async run({ runId }: Request<'run'>): Answer<'run'> {
    return fitting({ run: await this.#known(runId, await this.#reader.readRun(runId)) });
  }

  @Answers('logging', 'report')
  async report({ runId }: Request<'report'>): Answer<'report'> {
    return fitting({ runId, markdown: await this.#known(runId, await this.#reports.reportOf(runId)) });
  }

  async #known<T>(runId: RunId, found: T | undefined): Promise<T> {
    if (found !== undefined) return found;
    const broken = await this.#reader.whyBroken(runId);
    const message = broken === undefined ? `There is no run ${runId}.` : `The run ${runId} cannot be shown: ${broken}.`;
    throw refused('NOT_FOUND', message);
  }
}

function fitting<T>(answer: T): T {
  if (Buffer.byteLength(JSON.stringify(answer)) <= ANSWER_BYTES_MAX) return answer;
  throw refused('TOO_LARGE', 'The answer is larger than one message may be; read the run from the log instead.');
}

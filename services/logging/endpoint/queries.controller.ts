import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { LIMITS, type RefusalCode, type RunId } from '#proto';
import { QueryRefusedError, serveQueries, type Served } from '#libs/messaging';
import { UnavailableError, type ProjectionReader } from '../projection/index.js';
import type { ReportWriter } from '../reports/index.js';

const RUNS_DEFAULT = 100;
const APPROVALS_DEFAULT = 100;
/** Room for the envelope of the answer. */
const ANSWER_BYTES_MAX = LIMITS.natsPayloadBytesMax - 64 * 1024;

export interface QueriesOptions {
  readonly nc: NatsConnection;
  readonly reader: ProjectionReader;
  readonly reports: ReportWriter;
  readonly logger: Logger;
}

/** `runs`, `run`, `approvals` and `report`, from Postgres. */
export function serveLogging({ nc, reader, reports, logger }: QueriesOptions): Promise<Served> {
  const known = async <T>(runId: RunId, found: T | undefined): Promise<T> => {
    if (found !== undefined) return found;
    const broken = await reader.whyBroken(runId);
    const message = broken === undefined ? `There is no run ${runId}.` : `The run ${runId} cannot be shown: ${broken}.`;
    throw refused('NOT_FOUND', message);
  };
  return serveQueries(
    nc,
    'logging',
    {
      runs: ({ limit = RUNS_DEFAULT }) => answered(async () => ({ runs: await reader.listRuns(limit) })),
      approvals: ({ state = 'open', limit = APPROVALS_DEFAULT }) =>
        answered(async () => ({ approvals: await reader.listApprovals({ isOpen: state === 'open', limit }) })),
      run: ({ runId }) => answered(async () => ({ run: await known(runId, await reader.readRun(runId)) })),
      report: ({ runId }) =>
        answered(async () => ({ runId, markdown: await known(runId, await reports.reportOf(runId)) })),
    },
    { report: (error, name) => logger.error({ err: error, query: name }, 'query failed') },
  );
}

async function answered<T>(answer: () => Promise<T>): Promise<T> {
  try {
    const found = await answer();
    if (Buffer.byteLength(JSON.stringify(found)) <= ANSWER_BYTES_MAX) return found;
  } catch (error) {
    if (error instanceof UnavailableError) throw refused('TRY_AGAIN', 'PostgreSQL is not there yet.');
    throw error;
  }
  throw refused('TOO_LARGE', 'The answer is larger than one message may be; read the run from the log instead.');
}

function refused(code: RefusalCode, message: string): QueryRefusedError {
  return new QueryRefusedError({ code, message, issues: [] });
}

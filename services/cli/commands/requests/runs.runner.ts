import { query } from '#libs/messaging';
import { withBus } from '../../bus/index.js';
import { type ExitCode, type CliContext, tellTable } from '../../terminal/index.js';

/** Lists the runs that the logging service has projected, newest first. */
export async function listRuns(context: CliContext, limit: number): Promise<ExitCode> {
  const { runs } = await withBus(context, (nc) => query(nc, 'logging', 'runs', { limit }));
  return tellTable(context, {
    json: { runs },
    rows: runs,
    nothing: 'There are no runs yet.',
    columns: [
      { title: 'RUN', value: (run) => run.runId },
      { title: 'STATUS', value: ({ status }) => status, status: true },
      { title: 'OUTCOME', value: ({ outcome }) => outcome ?? '-', status: true },
      { title: 'TASKS', value: ({ tasks }) => String(tasks) },
      { title: 'REQUESTED', value: ({ requestedAt }) => requestedAt },
      { title: 'REQUEST', value: ({ requestId }) => requestId },
      { title: 'NAME', value: ({ name }) => name },
    ],
  });
}

import type { RunSummary } from '#proto';
import { query } from '#libs/messaging';
import { withBus } from '../../bus/index.js';
import { EXIT, type ExitCode, renderTable, printJson, type CliContext } from '../../terminal/index.js';

/** Lists the runs that the logging service has projected, newest first. */
export async function listRuns(context: CliContext, limit: number): Promise<ExitCode> {
  const { runs } = await withBus(context, (nc) => query(nc, 'logging', 'runs', { limit }));
  const { terminal, json } = context;
  if (json) {
    printJson(context, { runs });
    return EXIT.ok;
  }
  if (runs.length === 0) {
    terminal.err('There are no runs yet.');
    return EXIT.ok;
  }
  const columns = [
    { title: 'RUN', value: (run: RunSummary) => run.runId },
    { title: 'STATUS', value: ({ status }: RunSummary) => status, status: true },
    { title: 'OUTCOME', value: ({ outcome }: RunSummary) => outcome ?? '-', status: true },
    { title: 'TASKS', value: ({ tasks }: RunSummary) => String(tasks) },
    { title: 'REQUESTED', value: ({ requestedAt }: RunSummary) => requestedAt },
    { title: 'REQUEST', value: ({ requestId }: RunSummary) => requestId },
    { title: 'NAME', value: ({ name }: RunSummary) => name },
  ];
  terminal.out(renderTable(runs, columns, terminal));
  return EXIT.ok;
}

import { withBus } from '../bus.client.js';
import { EXIT, exitCodeOfRun, type ExitCode } from '../exit-codes.js';
import { printAnswer, watchRun } from '../live.runner.js';
import { isKnown } from '../log.client.js';
import { unknownRun } from '../run-history.js';
import { runIdFrom } from '../sources.client.js';
import type { CliContext } from '../terminal.js';

/** Follows a run to its end, with what its tasks write when `output` is set; the exit code says how it ended. */
export async function watch(context: CliContext, run: string, output = false): Promise<ExitCode> {
  const runId = runIdFrom(run);
  return withBus(context, async (nc) => {
    if (!(await isKnown(nc, runId))) throw unknownRun(runId);
    const view = await watchRun(context, nc, runId, { output: output ? {} : undefined });
    if (view === undefined) return EXIT.failure;
    if (!context.json) printAnswer(context, view);
    return exitCodeOfRun(view);
  });
}

import type { NatsConnection } from '@nats-io/transport-node';
import type { RunId } from '#proto';
import { withBus } from '../../bus/index.js';
import { EXIT, exitCodeOfRun, type ExitCode, type CliContext } from '../../terminal/index.js';
import { mayLeave, printEnd, watchRun } from '../../live/index.js';
import { isKnownRun, unknownRun, runIdFrom } from '../../sources/index.js';

/** Follows a run to its end, with what its tasks write when `output` is set; the exit code says how it ended. */
export async function watch(context: CliContext, run: string, output = false): Promise<ExitCode> {
  const runId = runIdFrom(run);
  return withBus(context, (nc) => watchKnown(context, nc, { runId, output }), { follows: true });
}

async function watchKnown(
  context: CliContext,
  nc: NatsConnection,
  { runId, output }: { readonly runId: RunId; readonly output: boolean },
): Promise<ExitCode> {
  if (!(await isKnownRun(nc, runId))) throw unknownRun(runId);
  mayLeave(context, runId);
  const view = await watchRun(context, nc, runId, { output: output ? {} : undefined });
  if (view === undefined) return EXIT.failure;
  if (!context.json) printEnd(context, view);
  return exitCodeOfRun(view);
}

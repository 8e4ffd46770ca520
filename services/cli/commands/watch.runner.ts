import type { NatsConnection } from '@nats-io/transport-node';
import type { RunId } from '#proto';
import { withBus } from '../bus.client.js';
import { EXIT, exitCodeOfRun, type ExitCode } from '../exit-codes.js';
import { watchRun } from '../live.runner.js';
import { isKnown } from '../log.client.js';
import { unknownRun } from '../run-history.js';
import { runIdFrom } from '../sources.client.js';
import type { CliContext } from '../terminal.js';

/** Follows a run to its end; the exit code says how it ended. */
export async function watch(context: CliContext, run: string): Promise<ExitCode> {
  const runId = runIdFrom(run);
  return withBus(context, async (nc) => {
    if (!(await isKnown(nc, runId))) throw unknownRun(runId);
    return watchToTheEnd(context, nc, runId);
  });
}

async function watchToTheEnd(context: CliContext, nc: NatsConnection, runId: RunId): Promise<ExitCode> {
  const view = await watchRun(context, nc, runId);
  return view === undefined ? EXIT.failure : exitCodeOfRun(view);
}

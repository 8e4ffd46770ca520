import type { NatsConnection } from '@nats-io/transport-node';
import { emptyRun, evolveCommit, type Run } from '#libs/constellation';
import { readStored } from '#libs/event-log';
import { parseJson, RunCommit, subjects, type RunId } from '#proto';
import { RefusedError } from '../http/index.js';

/** A run as RUNS has it by now. Throws RefusedError when it has none. */
export async function storedRun(nc: NatsConnection, runId: RunId): Promise<Run> {
  let run = emptyRun(runId);
  for await (const { data } of readStored(nc, 'RUNS', subjects.run(runId))) {
    run = evolveCommit(run, RunCommit.parse(parseJson(data)));
  }
  if (run.number === 0) throw new RefusedError({ code: 'NOT_FOUND', message: `There is no run ${runId}.` });
  return run;
}

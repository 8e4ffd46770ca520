import type { NatsConnection } from '@nats-io/transport-node';
import { emptyRun, evolveCommit } from '#libs/constellation';
import type { Evaluation, RunId } from '#proto';
import { withSignedBus, orderOfPlanner } from '../../bus/index.js';
import { unreachable, type ExitCode, type CliContext, tell } from '../../terminal/index.js';
import { followRun, runIdFrom } from '../../sources/index.js';
import { evaluationText } from '../../text/index.js';

export interface EvaluateWords {
  readonly timeoutMs: number;
}

/** Lets a model judge a run that has ended, waits until its history shows the judgement, and prints it. */
export function evaluate(context: CliContext, run: string, { timeoutMs }: EvaluateWords): Promise<ExitCode> {
  const runId = runIdFrom(run);
  return withSignedBus(context, async (nc) => {
    const tooLate = AbortSignal.timeout(timeoutMs);
    await orderOfPlanner(nc, context, { name: 'evaluate', body: { runId }, timeoutMs });
    const evaluation = await shownEvaluation(nc, runId, AbortSignal.any([context.signal, tooLate]));
    if (evaluation === null) {
      throw unreachable(
        `The run is judged, but its history does not show it yet; look again with: orrery show ${runId}`,
      );
    }
    return tell(context, { runId, evaluation }, evaluationText(evaluation));
  });
}

/** As the orchestrator has taken notice of it; null when it has not before `signal`. */
async function shownEvaluation(nc: NatsConnection, runId: RunId, signal: AbortSignal): Promise<Evaluation | null> {
  let run = emptyRun(runId);
  for await (const { commit } of followRun(nc, runId, signal)) {
    run = evolveCommit(run, commit);
    if (run.evaluation !== null) return run.evaluation;
  }
  return null;
}

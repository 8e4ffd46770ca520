import type { Cause } from '#proto';
import type { Answer, Input, Run, RunDecision } from '#libs/constellation';
import type { ServedRun, Waiting } from './served-run.js';
import type { StarvedTurn } from './starved.js';

/** Whether nothing can be stored of the run yet, as far as its inputs say. */
export function isNew(served: ServedRun, batch: readonly Waiting[]): boolean {
  return (
    served.loaded === undefined &&
    batch.length > 0 &&
    batch.every(({ input }) => input.kind === 'submit' || input.kind === 'fork')
  );
}

/** Whose turn it was, and which devices served it. */
export function turnOf({ events, run }: RunDecision): StarvedTurn {
  const started = events.flatMap(({ type, data }) => (type === 'TASK_STARTED' ? data.deviceId : []));
  return { priority: priorityOf(run), served: new Set(started) };
}

/** As requested; 0 for a run that is not requested yet. */
export function priorityOf({ request }: Run): number {
  return request?.options.priority ?? 0;
}

/** A commit names what it decided; what was ignored or refused without a trace is not among it. */
export function recordedCause(cause: Cause, answer: Answer | undefined): Cause[] {
  // What was decided before keeps its place in the commit of then.
  if (answer?.kind === 'accepted') return answer.sequence === undefined ? [cause] : [];
  return answer?.kind === 'rejected' && answer.recorded === true ? [{ ...cause, rejected: true }] : [];
}

/** In their order. */
export function inputsOf(batch: readonly Waiting[]): Input[] {
  return batch.map(({ input }) => input);
}

/** Tells everybody who waits what became of his input. `sequence`: of the run, when its commit is stored. */
export function answerAll(batch: readonly Waiting[], { answers }: RunDecision, sequence: number): void {
  for (const [index, waiting] of batch.entries()) {
    const answer = answers[index];
    if (answer === undefined) continue;
    const decidedAt = answer.kind === 'accepted' ? answer.sequence : undefined;
    waiting.settle({ kind: 'answered', answer, sequence: decidedAt ?? sequence });
  }
}

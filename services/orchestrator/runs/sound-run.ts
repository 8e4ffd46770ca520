import type { RunCommit, RunId } from '#proto';
import { checkInvariants, emptyRun, foldRun, type Run } from '#libs/constellation';

/** The log holds a run that breaks an invariant: nothing is decided on it. */
export class UnsoundRunError extends Error {}

/** The run as its commits tell it. Throws UnsoundRunError. */
export function soundRun(runId: RunId, commits: readonly RunCommit[]): Run {
  try {
    const run = foldRun(commits) ?? emptyRun(runId);
    const [violation] = checkInvariants(run);
    if (violation === undefined) return run;
    throw new UnsoundRunError(
      `run ${runId} breaks ${violation.invariant}: ${violation.tasks.join(', ')} ${violation.message}`,
    );
  } catch (error) {
    if (error instanceof UnsoundRunError) throw error;
    throw new UnsoundRunError(`run ${runId} cannot be folded: ${String(error)}`, { cause: error });
  }
}

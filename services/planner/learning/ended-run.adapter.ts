import type { RunEventType, RunId } from '#proto';
import { foldRun, isTerminal, type Run } from '#libs/constellation';
import type { RunLog } from '#libs/event-log';
import { refused } from '#libs/messaging';

export interface EndedRun {
  readonly run: Run;
  /** The commit with which it has ended: what is noted afterwards is not its end. */
  readonly commit: string;
}

/** A run that has ended, as its commits tell it. Throws QueryRefusedError when there is none, or it goes on. */
export async function loadEndedRun(runs: RunLog, runId: RunId, toDo: string): Promise<EndedRun> {
  const commits = (await runs.load(runId)).map(({ commit }) => commit);
  const run = foldRun(commits);
  const last = commits.findLast(({ events }) => events.some(({ type }) => isEnd(type)));
  if (run === undefined) throw refused('NOT_FOUND', `There is no run ${runId}.`);
  if (isTerminal(run) && last !== undefined) return { run, commit: last.commit };
  throw refused('INVALID_STATE', `The run ${runId} has not ended yet; only then it can be ${toDo}.`);
}

function isEnd(type: RunEventType): boolean {
  return type === 'RUN_COMPLETED' || type === 'RUN_FAILED' || type === 'RUN_CANCELLED';
}

/** Why nothing comes of a query that needs a model. */
export const NO_MODEL =
  'No model is configured; set OPENAI_BASE_URL, OPENAI_API_KEY and ORRERY_MODEL for the planner and start it again.';

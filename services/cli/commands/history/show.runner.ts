import { type ExitCode, type CliContext, tell } from '../../terminal/index.js';
import { commitsOf, stateAt, openOneRun } from '../../sources/index.js';
import { runText } from '../../text/index.js';

/** Shows a run now or at any event, folded from its own commits: the log is asked, not a projection of it. */
export async function show(context: CliContext, runOrFile: string, at?: number): Promise<ExitCode> {
  const [runId, records] = await openOneRun(context, runOrFile);
  const view = stateAt(runId, commitsOf(runId, records), { at, now: Date.now() });
  return tell(context, view, runText(view, context.terminal));
}

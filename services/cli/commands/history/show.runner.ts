import { conversationOf } from '#libs/constellation';
import { LIMITS } from '#proto';
import { type ExitCode, type CliContext, tell } from '../../terminal/index.js';
import { commitsOf, stateAt, openOneRun } from '../../sources/index.js';
import { runText } from '../../text/index.js';

/** Shows a run now or at any event, folded from its own commits: the log is asked, not a projection of it. */
export async function show(context: CliContext, runOrFile: string, at?: number): Promise<ExitCode> {
  const [runId, records] = await openOneRun(context, runOrFile);
  const commits = commitsOf(runId, records);
  const view = stateAt(runId, commits, { at, now: Date.now() });
  const conversation = conversationOf(commits)
    .filter(({ sequence }) => sequence <= view.sequence)
    .slice(-LIMITS.conversationMax);
  return tell(context, { ...view, conversation }, runText({ ...view, conversation }, context.terminal));
}

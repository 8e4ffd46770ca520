import { boardOfCommits, conversationOf, shownBoard } from '#libs/constellation';
import { LIMITS, type RunCommit, type RunView } from '#proto';
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
  const shown = { ...view, conversation, ...boardAt(commits, view.sequence) };
  return tell(context, shown, runText(shown, context.terminal));
}

/** What stood on the board then, without the values; nothing where it was never written. */
function boardAt(commits: readonly RunCommit[], sequence: number): Pick<RunView, 'board'> {
  const until = commits.map((commit) => ({
    ...commit,
    events: commit.events.filter((one) => one.sequence <= sequence),
  }));
  const entries = shownBoard({ board: boardOfCommits(until), blackboard: [] });
  return entries.length === 0 ? {} : { board: entries.map(({ value: _value, ...entry }) => entry) };
}

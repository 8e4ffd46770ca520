import { attemptStories, entryEvents } from '#libs/constellation';
import { AttemptCommit, parseWith, sentenceOf, type RunId } from '#proto';
import type { ExportRecord } from '#libs/audit';
import { cleanLine, badInput, failure, EXIT, type ExitCode, printJson, type CliContext } from '../../terminal/index.js';
import { openOneRun } from '../../sources/index.js';
import { stepsText } from './steps-text.js';

/** What was thought, judged, asked and done in the attempts of a run, out of their own events. */
export async function steps(context: CliContext, runOrFile: string, task: string | undefined): Promise<ExitCode> {
  const [runId, records] = await openOneRun(context, runOrFile, 'OUTPUT_READ');
  const commits = attemptCommits(runId, records);
  const known = [...new Set(commits.map(({ taskId }) => taskId))];
  if (task !== undefined && !known.includes(task)) {
    const which = known.length === 0 ? 'none has one' : `these have: ${known.join(', ')}`;
    throw badInput(`Task "${cleanLine(task)}" of run ${runId} has no recorded attempt; ${which}.`);
  }
  const attempts = attemptStories(commits.filter(({ taskId }) => task === undefined || taskId === task));
  if (context.json) {
    const said = attempts.map(({ taskId, attempt, entries }) => ({
      taskId,
      attempt,
      events: entries.flatMap(entryEvents).toSorted((one, other) => one.sequence - other.sequence),
    }));
    printJson(context, { runId, attempts: said });
    return EXIT.ok;
  }
  if (attempts.length === 0) context.terminal.err(`Run ${runId} has no attempt with a record yet.`);
  for (const story of attempts) context.terminal.out(stepsText(story, context.terminal).join('\n'));
  return EXIT.ok;
}

function attemptCommits(runId: RunId, records: readonly ExportRecord[]): AttemptCommit[] {
  return records.flatMap(({ stream, commit }) => {
    if (stream !== 'ATTEMPTS') return [];
    const parsed = parseWith(AttemptCommit, commit);
    if (parsed.ok) return [parsed.value];
    throw failure(`Run ${runId} cannot be read: ${parsed.issues.map(sentenceOf).join('; ')}. Try: orrery verify`);
  });
}

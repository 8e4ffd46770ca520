import { counted, exportUfo, foldRun, hasPlan, type TaskState, type UfoProgress } from '#libs/constellation';
import type { RunCommit, RunId } from '#proto';
import { renderExport } from '#libs/audit';
import { recordAccess, withBus } from '../../bus/index.js';
import { EXIT, type ExitCode, badInput, type CliContext, tell } from '../../terminal/index.js';
import { loadRecords, commitsOf, unknownRun, openOneRun, runIdFrom } from '../../sources/index.js';
import { writeWhole } from '../../files/index.js';

/** Writes a run as it is stored, to take it home: `verify`, `replay`, `show` and `report` need nothing else. */
export async function exportRun(context: CliContext, run: string, file?: string): Promise<ExitCode> {
  const runId = runIdFrom(run);
  const records = await withBus(context, async (nc) => {
    await recordAccess(nc, { what: 'EXPORTED', runId });
    return loadRecords(nc, runId);
  });
  const text = renderExport(records);
  if (file === undefined || file === '-') {
    context.terminal.out(text.trimEnd());
    return EXIT.ok;
  }
  await writeWhole(file, text);
  return tell(
    context,
    { runId, file, records: records.length },
    `${counted(records.length, 'commit')} of run ${runId} written to ${file}`,
  );
}

/** Writes the constellation of a run as it is now, in the form that UFO reads and `submit -f` takes. */
export async function exportAsUfo(context: CliContext, runOrFile: string, file?: string): Promise<ExitCode> {
  const [runId, records] = await openOneRun(context, runOrFile, 'EXPORTED');
  const text = JSON.stringify(ufoFrom(runId, commitsOf(runId, records)), null, 2);
  if (file === undefined || file === '-') {
    context.terminal.out(text);
    return EXIT.ok;
  }
  await writeWhole(file, `${text}\n`);
  return tell(context, { runId, file }, `constellation of run ${runId} written to ${file}`);
}

/** Pure: the same commits give the same constellation for ever. */
export function ufoFrom(runId: RunId, commits: readonly RunCommit[]): unknown {
  const run = foldRun(commits);
  const [first, last] = [commits[0], commits.at(-1)];
  if (run === undefined || first === undefined || last === undefined) throw unknownRun(runId);
  const { graph, revision, endedAt, request } = run;
  if (!hasPlan(run)) throw badInput(`Run ${runId} has no constellation yet: its plan is still being made.`);
  const tasks = [...run.tasks].filter(({ part }) => part === null);
  const lines = [...graph.lines];
  const started = tasks.flatMap(({ startedAt }) => startedAt ?? []).toSorted();
  return exportUfo({
    constellation: { name: graph.name, tasks: tasks.map(({ star }) => star), lines },
    runId,
    ...(request === null
      ? {}
      : { asked: { options: request.options, metadata: request.metadata, labels: request.labels } }),
    revision,
    createdAt: first.at,
    updatedAt: last.at,
    startedAt: started[0] ?? null,
    endedAt,
    tasks: new Map(tasks.map((task) => [task.star.id, progressOf(task)])),
    satisfied: new Map(lines.map(({ id }, index) => [id, run.lines.at(index).satisfied])),
  });
}

function progressOf({ status, attempt, result, error, ...task }: TaskState): UfoProgress {
  const { startedAt, endedAt } = task;
  const said = error === null ? task.reason : `${error.code}: ${error.message}`;
  return { status, attempt, result: result?.value ?? null, error: said, startedAt, endedAt };
}

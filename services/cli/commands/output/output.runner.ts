import { isTerminalTask } from '#libs/constellation';
import { parseWith, sentenceOf, TaskId, type RunView } from '#proto';
import { recordAccess, withBus } from '../../bus/index.js';
import { badInput, EXIT, exitCodeOfRun, type ExitCode, paintFor, type CliContext } from '../../terminal/index.js';
import {
  watchRun,
  jsonPrinter,
  linePrinter,
  rawPrinter,
  type OutputPrinter,
  outputLineText,
} from '../../live/index.js';
import { loadRunRecords, commitsOf, stateAt, runIdFrom } from '../../sources/index.js';
import { printRecorded } from './recorded-output.client.js';

/**
 * Follows what the tasks of a run write, or one of them, until the run ends; the exit code says how it ended. Of a run that
 * is over the recorded output of the task, whole.
 */
export async function output(context: CliContext, run: string, task?: string): Promise<ExitCode> {
  const runId = runIdFrom(run);
  const taskId = task === undefined ? undefined : taskIdFrom(task);
  return withBus(context, async (nc) => {
    const view = stateAt(runId, commitsOf(runId, await loadRunRecords(nc, runId)));
    if (view.endedAt !== null && (taskId === undefined || context.json)) throw isOver(view);
    if (taskId !== undefined) checkTask(context, view, taskId);
    if (taskId !== undefined && view.endedAt !== null) {
      await recordAccess(nc, { what: 'OUTPUT_READ', runId, taskId });
      await printRecorded(context, nc, view, taskId);
      return exitCodeOfRun(view);
    }
    const [only, second] = view.tasks;
    const printer = printerFor(context, taskId, second === undefined ? only?.id : undefined);
    const ended = await watchRun(context, nc, runId, { manner: 'quiet', output: { taskId, printer } });
    return ended === undefined ? EXIT.failure : exitCodeOfRun(ended);
  });
}

/** There is nothing to follow any more. */
function isOver({ runId, outcome, status }: RunView): Error {
  return badInput(
    `Run ${runId} is over (${outcome ?? status.toLowerCase()}), and what all its tasks write is shown only while they run. ` +
      `The whole output of one: orrery output ${runId} <task>; what became of it: orrery show ${runId}, orrery report ${runId}`,
  );
}

function checkTask({ terminal }: CliContext, { runId, tasks, endedAt }: RunView, taskId: TaskId): void {
  const found = tasks.find(({ id }) => id === taskId);
  if (found === undefined) throw badInput(`Run ${runId} has no task ${taskId}; see: orrery show ${runId}`);
  if (!isTerminalTask(found.status) || endedAt !== null) return;
  terminal.err(`task ${taskId} is over (${found.status.toLowerCase()}); waiting in case it is tried again`);
}

function printerFor(context: CliContext, taskId: TaskId | undefined, only: TaskId | undefined): OutputPrinter {
  const { terminal, json } = context;
  if (json) return jsonPrinter(terminal);
  if (taskId !== undefined && !terminal.isTerminal) return rawPrinter(terminal);
  const paint = paintFor(terminal);
  return linePrinter((lines) => lines.forEach((line) => terminal.out(outputLineText(line, taskId ?? only, paint))));
}

function taskIdFrom(text: string): TaskId {
  const parsed = parseWith(TaskId, text);
  if (parsed.ok) return parsed.value;
  throw badInput(`task: ${parsed.issues.map(sentenceOf).join('; ')}`);
}

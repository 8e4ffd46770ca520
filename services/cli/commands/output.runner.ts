import type { NatsConnection } from '@nats-io/transport-node';
import { isTerminalTask } from '#libs/constellation';
import { parseWith, sentenceOf, TaskId } from '#proto';
import type { RunId, RunView } from '#proto';
import { withBus } from '../bus.client.js';
import { badInput } from '../errors.js';
import { EXIT, exitCodeOfRun, type ExitCode } from '../exit-codes.js';
import { watchRun } from '../live.runner.js';
import { loadRunRecords } from '../log.client.js';
import { jsonPrinter, linePrinter, rawPrinter, type OutputPrinter } from '../output-printer.js';
import { outputText } from '../output-text.js';
import { commitsOf, stateAt } from '../run-history.js';
import { runIdFrom } from '../sources.client.js';
import { paintFor } from '../style.js';
import type { CliContext } from '../terminal.js';

/** Follows what the tasks of a run write, or one of them, until the run ends; the exit code says how it ended. */
export async function output(context: CliContext, run: string, task?: string): Promise<ExitCode> {
  const runId = runIdFrom(run);
  const taskId = task === undefined ? undefined : taskIdFrom(task);
  return withBus(context, async (nc) => {
    const view = await viewOfLive(nc, runId);
    if (taskId !== undefined) checkTask(context, view, taskId);
    const [only, second] = view.tasks;
    const printer = printerFor(context, taskId, second === undefined ? only?.id : undefined);
    const ended = await watchRun(context, nc, runId, { manner: 'quiet', output: { taskId, printer } });
    return ended === undefined ? EXIT.failure : exitCodeOfRun(ended);
  });
}

/** Throws for a run that is over: there is nothing to follow any more. */
async function viewOfLive(nc: NatsConnection, runId: RunId): Promise<RunView> {
  const view = stateAt(runId, commitsOf(runId, await loadRunRecords(nc, runId)));
  if (view.endedAt === null) return view;
  const end = view.outcome ?? view.status.toLowerCase();
  throw badInput(
    `Run ${runId} is over (${end}), and what tasks write is shown only while they run. ` +
      `Their results are in: orrery show ${runId}, orrery report ${runId}`,
  );
}

function checkTask({ terminal }: CliContext, { runId, tasks }: RunView, taskId: TaskId): void {
  const found = tasks.find(({ id }) => id === taskId);
  if (found === undefined) throw badInput(`Run ${runId} has no task ${taskId}; see: orrery show ${runId}`);
  if (!isTerminalTask(found.status)) return;
  terminal.err(`task ${taskId} is over (${found.status.toLowerCase()}); waiting in case it is tried again`);
}

function printerFor(context: CliContext, taskId: TaskId | undefined, only: TaskId | undefined): OutputPrinter {
  const { terminal, json } = context;
  if (json) return jsonPrinter(terminal);
  if (taskId !== undefined && !terminal.isTerminal) return rawPrinter(terminal);
  const paint = paintFor(terminal);
  return linePrinter((lines) => lines.forEach((line) => terminal.out(outputText(line, taskId ?? only, paint))));
}

function taskIdFrom(text: string): TaskId {
  const parsed = parseWith(TaskId, text);
  if (parsed.ok) return parsed.value;
  throw badInput(`task: ${parsed.issues.map(sentenceOf).join('; ')}`);
}

import type { NatsConnection } from '@nats-io/transport-node';
import { isTerminalTask } from '#libs/constellation';
import { matcherOf, type OutputWish, type RecordedStream, type SearchWish } from '#libs/output';
import { parseWith, sentenceOf, TaskId, type RunId, type RunView } from '#proto';
import { recordAccess, withBus } from '../../bus/index.js';
import {
  badInput,
  EXIT,
  exitCodeOfRun,
  messageOf,
  type ExitCode,
  paintFor,
  type CliContext,
} from '../../terminal/index.js';
import {
  mayLeave,
  watchRun,
  jsonPrinter,
  linePrinter,
  rawPrinter,
  type OutputPrinter,
  outputLineText,
} from '../../live/index.js';
import { loadRunRecords, commitsOf, stateAt, runIdFrom } from '../../sources/index.js';
import { freeTarget, writeArtifact } from './artifacts.runner.js';
import { printRecorded, recordedFileOf } from './recorded-output.runner.js';

/** What may be said about the outputs that are wanted. */
export interface OutputWords {
  readonly task?: string;
  readonly attempt?: number;
  readonly step?: { readonly step: number; readonly index: number | undefined };
  readonly failed?: boolean;
  readonly stream?: RecordedStream;
  readonly grep?: string;
  readonly fixed?: boolean;
  readonly ignoreCase?: boolean;
  readonly after?: number;
  readonly before?: number;
  readonly around?: number;
  readonly raw?: boolean;
  readonly recorded?: boolean;
  readonly artifact?: string;
  readonly output?: string;
}

/**
 * Follows what the tasks of a run write, or one of them, until the run ends; the exit code says how it ended. Of a run that
 * is over all that is recorded of it, as of one that goes on when a part of that is asked for.
 */
export async function output(context: CliContext, run: string, words: OutputWords): Promise<ExitCode> {
  const runId = runIdFrom(run);
  const wish = wishOf(words);
  const { raw = false } = words;
  if (raw && (context.terminal.isTerminal || context.json || wish.search !== undefined)) {
    throw badInput('--raw gives bytes to a file or a pipe: not to a terminal, and without --json and --grep.');
  }
  const { artifact, output: file } = words;
  if (artifact !== undefined) return fetchNamed(context, { runId, wish, words: { ...words, artifact } });
  if (file !== undefined) throw badInput('-o is for one file: name it with --artifact.');
  return withBus(context, (nc) => outputOf(context, nc, { runId, wish, words }), { follows: true });
}

interface Wanted {
  readonly runId: RunId;
  readonly wish: OutputWish;
  readonly words: OutputWords;
}

async function outputOf(context: CliContext, nc: NatsConnection, { runId, wish, words }: Wanted): Promise<ExitCode> {
  const { raw = false, recorded = false } = words;
  const view = stateAt(runId, commitsOf(runId, await loadRunRecords(nc, runId)));
  const { taskId } = wish;
  if (taskId !== undefined) checkTask(view, taskId);
  const isPart = [wish.attempt, wish.step, wish.failed, wish.streams, wish.search].some((said) => said !== undefined);
  if (view.endedAt !== null || isPart || raw || recorded) {
    await recordAccess(nc, { what: 'OUTPUT_READ', runId, ...(taskId === undefined ? {} : { taskId }) });
    await printRecorded(context, nc, { view, wish, raw });
    return view.endedAt === null ? EXIT.ok : exitCodeOfRun(view);
  }
  if (taskId !== undefined) tellOfEnd(context, view, taskId);
  const [only, second] = view.tasks;
  const printer = printerFor(context, taskId, second === undefined ? only?.id : undefined);
  mayLeave(context, runId);
  const ended = await watchRun(context, nc, runId, { manner: 'quiet', output: { taskId, printer } });
  return ended === undefined ? EXIT.failure : exitCodeOfRun(ended);
}

/** One file of what is recorded, by its name. */
async function fetchNamed(
  context: CliContext,
  { runId, wish, words }: Wanted & { readonly words: { readonly artifact: string } },
): Promise<ExitCode> {
  const { raw = false, artifact, output: file } = words;
  if (raw || wish.search !== undefined || wish.streams !== undefined) {
    throw badInput('--artifact gives a whole file: say it without --raw, --stream and --grep.');
  }
  const target = await freeTarget(context, file);
  return withBus(context, async (nc) => {
    const view = stateAt(runId, commitsOf(runId, await loadRunRecords(nc, runId)));
    const { taskId } = wish;
    if (taskId !== undefined) checkTask(view, taskId);
    await recordAccess(nc, { what: 'OUTPUT_READ', runId, ...(taskId === undefined ? {} : { taskId }) });
    const found = await recordedFileOf(nc, { view, wish }, artifact);
    await writeArtifact(context, nc, { sha256: found.artifact.sha256, target });
    return EXIT.ok;
  });
}

function wishOf(words: OutputWords): OutputWish {
  const { task, attempt, step, failed, stream } = words;
  const search = searchOf(words);
  return {
    taskId: task === undefined ? undefined : taskIdFrom(task),
    attempt,
    step: step?.step,
    index: step?.index,
    failed,
    streams: stream === undefined ? undefined : [stream],
    search,
  };
}

function searchOf({ grep, fixed, ignoreCase, around, after, before }: OutputWords): SearchWish | undefined {
  if (grep === undefined) {
    const said = [fixed, ignoreCase, around, after, before].some((word) => word !== undefined);
    if (said) throw badInput('-A, -B, -C, -F and -i say how --grep looks: name a pattern with --grep.');
    return undefined;
  }
  const search = { pattern: grep, fixed, ignoreCase, after: after ?? around, before: before ?? around };
  try {
    matcherOf(search);
  } catch (error) {
    throw badInput(`--grep: ${messageOf(error)}. With -F it is a text.`);
  }
  return search;
}

function checkTask({ runId, tasks }: RunView, taskId: TaskId): void {
  if (tasks.some(({ id }) => id === taskId)) return;
  throw badInput(`Run ${runId} has no task ${taskId}; see: orrery show ${runId}`);
}

function tellOfEnd({ terminal }: CliContext, { tasks }: RunView, taskId: TaskId): void {
  const found = tasks.find(({ id }) => id === taskId);
  if (found === undefined || !isTerminalTask(found.status)) return;
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

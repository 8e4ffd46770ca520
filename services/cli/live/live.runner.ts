import { createLogUpdate } from 'log-update';
import type { NatsConnection } from '@nats-io/transport-node';
import type { RunCommit, RunId, RunView, TaskId } from '#proto';
import { recordAccess } from '../bus/index.js';
import {
  clipToWidth,
  failure,
  EXIT,
  exitCodeOfRun,
  type ExitCode,
  paintFor,
  printJson,
  type CliContext,
  type Terminal,
} from '../terminal/index.js';
import { see, tasksEndedBy, viewOfWatched, watchFrom } from './live-view.js';
import { followRun } from '../sources/index.js';
import type { OutputLine } from './output-lines.js';
import { jsonPrinter, linePrinter, type OutputPrinter } from './output-printer.js';
import { labelledOutput } from './output-text.js';
import { followOutput } from './output.client.js';
import { finalAnswerText, drawingOf } from '../text/index.js';

/** Rows that are never drawn on: the shell's prompt and a line of context. */
const ROWS_SPARED = 4;
const ROWS_WITHOUT_TERMINAL = 24;
/** Lines of output below the drawing: at most so many, and at most this part of the screen. */
const OUTPUT_ROWS_MAX = 8;
const OUTPUT_PART_OF_SCREEN = 3;
/** Output changes what is drawn no more often than this. */
const REDRAW_EVERY_MS = 100;

interface Screen {
  /** Without a view the state is already past: only its lines are worth showing. */
  show(commit: RunCommit, lines: readonly string[], view: RunView | undefined): void;
  output(lines: readonly OutputLine[]): void;
  end(): void;
}

interface OutputWish {
  /** Of this task only. */
  readonly taskId?: TaskId | undefined;
  /** Where it goes instead of the screen. */
  readonly printer?: OutputPrinter;
}

interface WatchOptions {
  readonly manner?: 'shown' | 'quiet';
  /** An end before this event is not the one that is waited for: the run was taken up again since. */
  readonly from?: number;
  /** Also what the tasks write while they run; not when absent. */
  readonly output?: OutputWish | undefined;
}

/**
 * Shows a run until it ends: on a terminal the constellation with the events scrolling above it, to a pipe one line per
 * event, with --json one JSON object per event. Answers the last state, or undefined when the watcher gave up first.
 */
export async function watchRun(
  context: CliContext,
  nc: NatsConnection,
  runId: RunId,
  { manner = 'shown', from = 0, output }: WatchOptions = {},
): Promise<RunView | undefined> {
  const { taskId } = output ?? {};
  const what = output === undefined ? 'EVENTS_READ' : 'OUTPUT_READ';
  await recordAccess(nc, { what, runId, ...(taskId === undefined ? {} : { taskId }) });
  const screen = screenFor(context, manner, output !== undefined);
  const printer = output?.printer ?? outputPrinter(context, screen);
  let stop = (): void => {};
  let watched = watchFrom(runId);
  try {
    if (output !== undefined) {
      stop = await followOutput(nc, { runId, taskId: output.taskId }, (piece) => printer.piece(piece));
    }
    for await (const { commit, behind } of followRun(nc, runId, context.signal)) {
      const seen = see(watched, commit);
      watched = seen.watched;
      const caughtUp = behind === 0;
      const { lines } = seen;
      // What a task wrote stands before the news that it is over.
      for (const taskId of tasksEndedBy(commit)) printer.flush(taskId);
      if (lines.length > 0) screen.show(commit, lines, caughtUp ? viewOfWatched(watched) : undefined);
      // What is there already may go on after an end: a run can be reopened.
      if (watched.ended && caughtUp && watched.run.sequence >= from) return viewOfWatched(watched);
    }
  } finally {
    stop();
    printer.flush();
    screen.end();
  }
  if (context.signal.aborted) return undefined;
  throw failure('The connection to the bus ended before the run did.');
}

/** As `watchRun`, for commands that wait: with --json the state at the end and no events. The exit code says how it ended. */
export async function waitForEnd(
  context: CliContext,
  nc: NatsConnection,
  runId: RunId,
  options: Pick<WatchOptions, 'from' | 'output'> = {},
): Promise<ExitCode> {
  const view = await watchRun(context, nc, runId, { manner: context.json ? 'quiet' : 'shown', ...options });
  if (view === undefined) return EXIT.failure;
  if (context.json) printJson(context, view);
  else printAnswer(context, view);
  return exitCodeOfRun(view);
}

/** Of a goal: the reply to the requester, below everything that led to it. */
export function printAnswer({ terminal }: CliContext, view: RunView): void {
  const lines = finalAnswerText(view, terminal);
  if (lines.length > 0) terminal.out(['', ...lines].join('\n'));
}

function outputPrinter({ terminal, json }: CliContext, screen: Screen): OutputPrinter {
  return json ? jsonPrinter(terminal) : linePrinter((lines) => screen.output(lines));
}

function screenFor({ terminal, json }: CliContext, manner: 'shown' | 'quiet', withOutput: boolean): Screen {
  const nothing = (): void => {};
  if (manner === 'quiet') return { show: nothing, output: nothing, end: nothing };
  if (json) {
    const show = ({ at, events }: RunCommit): void =>
      events.forEach((event) => terminal.out(JSON.stringify({ at, ...event })));
    return { show, output: nothing, end: nothing };
  }
  if (terminal.isTerminal) return new DrawingScreen(terminal, withOutput);
  const output = (lines: readonly OutputLine[]): void => lines.forEach((line) => terminal.out(labelledOutput(line)));
  return { show: (_, lines) => lines.forEach((line) => terminal.out(line)), output, end: nothing };
}

/**
 * Events scroll by, the constellation stands below them, and below it the latest output. Only what differs from the last
 * frame is written, and lines and drawing leave in one piece: nothing flickers.
 */
class DrawingScreen implements Screen {
  readonly #terminal: Terminal;
  readonly #withOutput: boolean;
  readonly #update = createLogUpdate(process.stdout, { showCursor: true });
  #drawing: readonly string[] = [];
  #latest: readonly OutputLine[] = [];
  #redraw: NodeJS.Timeout | undefined;

  constructor(terminal: Terminal, withOutput: boolean) {
    this.#terminal = terminal;
    this.#withOutput = withOutput;
  }

  show(_: RunCommit, lines: readonly string[], view: RunView | undefined): void {
    const { stdout } = process;
    const { columns, height } = this.#size();
    stdout.cork();
    // What is higher than the screen would lose its top.
    for (const block of blocksOf(lines, height))
      this.#update.persist(block.map((line) => clipToWidth(line, columns - 1)).join('\n'));
    if (view !== undefined) {
      const rows = height - 2 - (this.#withOutput ? outputRows(height) + 1 : 0);
      this.#drawing = drawingOf(view, { ...this.#terminal, columns }, Math.max(1, rows));
      this.#draw();
    }
    stdout.uncork();
  }

  output(lines: readonly OutputLine[]): void {
    this.#latest = [...this.#latest, ...lines].slice(-OUTPUT_ROWS_MAX);
    this.#redraw ??= setTimeout(() => {
      this.#redraw = undefined;
      this.#draw();
    }, REDRAW_EVERY_MS);
  }

  end(): void {
    clearTimeout(this.#redraw);
    if (this.#redraw !== undefined) this.#draw();
    this.#update.done();
  }

  #draw(): void {
    const { columns, height } = this.#size();
    const paint = paintFor(this.#terminal);
    const latest = this.#latest
      .slice(-outputRows(height))
      .map((line) => labelledOutput(line, { paint, charsMax: columns - 1 }));
    this.#update(['', ...this.#drawing, ...(latest.length === 0 ? [] : ['', ...latest])].join('\n'));
  }

  #size(): { columns: number; height: number } {
    const { stdout } = process;
    const rows = stdout.rows ?? ROWS_WITHOUT_TERMINAL;
    return { columns: stdout.columns ?? this.#terminal.columns, height: Math.max(1, rows - ROWS_SPARED) };
  }
}

const outputRows = (height: number): number =>
  Math.max(1, Math.min(OUTPUT_ROWS_MAX, Math.floor(height / OUTPUT_PART_OF_SCREEN)));

function blocksOf<T>(items: readonly T[], size: number): T[][] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, index) => items.slice(index * size, (index + 1) * size));
}

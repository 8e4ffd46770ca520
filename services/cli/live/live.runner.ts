import { createLogUpdate } from 'log-update';
import type { NatsConnection } from '@nats-io/transport-node';
import type { RunCommit, RunId, RunView, TaskId } from '#proto';
import { visibleText } from '#libs/visible';
import { recordAccess } from '../bus/index.js';
import {
  cleanLine,
  clipToWidth,
  failure,
  unreachable,
  EXIT,
  exitCodeOfRun,
  type ExitCode,
  paintFor,
  printJson,
  tellNext,
  type CliContext,
  type Terminal,
} from '../terminal/index.js';
import { see, viewOfWatched, watchFrom } from './live-view.js';
import { followRun } from '../sources/index.js';
import {
  attemptsEndedBy,
  followedRun,
  OutputDeniedError,
  type FollowedCommit,
  type FollowedItem,
  type OutputLine,
} from '#libs/output';
import { jsonPrinter, linePrinter, Paced, type OutputPrinter } from './output-printer.js';
import { labelledOutput } from './output-text.js';
import { finalAnswerText, drawingOf, stepsOfEnded, waitLines } from '../text/index.js';

/** Rows that are never drawn on: the shell's prompt and a line of context. */
const ROWS_SPARED = 4;
const ROWS_WITHOUT_TERMINAL = 24;
/** Lines of output below the drawing: at most so many, and at most this part of the screen. */
const OUTPUT_ROWS_MAX = 8;
const OUTPUT_PART_OF_SCREEN = 3;
/** Output changes what is drawn no more often than this. */
const REDRAW_EVERY_MS = 100;
/** How often the clocks of tasks go on. */
const TICK_MS = 1_000;

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

/** From here on a person may leave: the run needs nobody who watches it. */
export function mayLeave({ leaving }: Pick<CliContext, 'leaving'>, runId: RunId): void {
  leaving?.(`The run goes on; follow it: orrery watch ${runId}`);
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
  const paced = new Paced(context.terminal);
  let watched = watchFrom(runId);
  try {
    for await (const item of itemsOf(context, nc, runId, output === undefined ? undefined : { taskId, printer })) {
      if (item.kind === 'piece') {
        await printer.piece(item.piece);
        await paced.printed(item.piece.text.length);
        continue;
      }
      if (item.kind !== 'commit') {
        context.terminal.err(besideText(item));
        continue;
      }
      const { commit, behind } = item;
      const seen = see(watched, commit);
      watched = seen.watched;
      const caughtUp = behind === 0;
      const { lines } = seen;
      // What a task wrote stands before the news that it is over.
      for (const { taskId: ended } of attemptsEndedBy(commit)) printer.flush(ended);
      if (lines.length > 0) screen.show(commit, lines, caughtUp ? viewOfWatched(watched) : undefined);
      // What is there already may go on after an end: a run can be reopened.
      if (watched.ended && caughtUp && watched.run.sequence >= from) return viewOfWatched(watched);
    }
  } catch (error) {
    throw error instanceof OutputDeniedError
      ? failure('Your key of the bus may not read the output of runs.', error)
      : error;
  } finally {
    printer.flush();
    screen.end();
  }
  if (context.signal.aborted) return undefined;
  throw unreachable('The connection to the bus ended before the run did.');
}

/** The commits of a run, and with an output what its tasks write. */
function itemsOf(
  { signal }: CliContext,
  nc: NatsConnection,
  runId: RunId,
  output: { readonly taskId: TaskId | undefined; readonly printer: OutputPrinter } | undefined,
): AsyncIterable<FollowedItem> {
  const commits = (until: AbortSignal): AsyncIterable<FollowedCommit> => followRun(nc, runId, until);
  if (output === undefined) return commitsOnly(commits(signal));
  const { taskId, printer } = output;
  return followedRun(nc, { runId, taskId, isWhole: printer.isWhole, signal }, commits);
}

async function* commitsOnly(commits: AsyncIterable<FollowedCommit>): AsyncGenerator<FollowedItem> {
  for await (const { commit, behind } of commits) yield { kind: 'commit', commit, behind };
}

function besideText(item: Extract<FollowedItem, { kind: 'held' | 'note' }>): string {
  if (item.kind === 'note') return cleanLine(item.text);
  const { taskId, stream } = item.piece;
  return `${taskId} ${stream}: some of it did not come live; what follows is shown when the command has ended`;
}

/** As `watchRun`, for commands that wait: with --json the state at the end and no events. The exit code says how it ended. */
export async function waitForEnd(
  context: CliContext,
  nc: NatsConnection,
  runId: RunId,
  options: Pick<WatchOptions, 'from' | 'output'> = {},
): Promise<ExitCode> {
  mayLeave(context, runId);
  const view = await watchRun(context, nc, runId, { manner: context.json ? 'quiet' : 'shown', ...options });
  if (view === undefined) return EXIT.failure;
  if (context.json) printJson(context, view);
  else printEnd(context, view);
  return exitCodeOfRun(view);
}

/** Of a goal: the reply to the requester, below everything that led to it. */
export function printAnswer({ terminal }: CliContext, view: RunView): void {
  const lines = finalAnswerText(view, terminal);
  if (lines.length > 0) terminal.out(['', ...lines].join('\n'));
}

/** The same with what can be typed next. */
export function printEnd(context: CliContext, view: RunView): void {
  printAnswer(context, view);
  tellNext(context, stepsOfEnded(view));
}

function outputPrinter({ terminal, json }: CliContext, screen: Screen): OutputPrinter {
  return json ? jsonPrinter(terminal) : linePrinter((lines) => screen.output(lines), !terminal.isTerminal);
}

function screenFor({ terminal, json, now }: CliContext, manner: 'shown' | 'quiet', withOutput: boolean): Screen {
  const nothing = (): void => {};
  if (manner === 'quiet') return { show: nothing, output: nothing, end: nothing };
  if (json) {
    const show = ({ at, events }: RunCommit): void =>
      events.forEach((event) => terminal.out(visibleText(JSON.stringify({ at, ...event }))));
    return { show, output: nothing, end: nothing };
  }
  if (terminal.isTerminal) return new DrawingScreen({ terminal, now }, withOutput);
  const output = (lines: readonly OutputLine[]): void => lines.forEach((line) => terminal.out(labelledOutput(line)));
  let waits = '';
  const show: Screen['show'] = (_, lines, view) => {
    for (const line of lines) terminal.out(line);
    if (view === undefined) return;
    const now = waitLines(view).join('\n');
    if (now !== waits && now !== '') terminal.err(now);
    waits = now;
  };
  return { show, output, end: nothing };
}

/**
 * Events scroll by, the constellation stands below them, and below it the latest output. Only what differs from the last
 * frame is written, and lines and drawing leave in one piece: nothing flickers.
 */
class DrawingScreen implements Screen {
  readonly #terminal: Terminal;
  readonly #withOutput: boolean;
  readonly #update = createLogUpdate(process.stdout, { showCursor: true });
  readonly #now: () => number;
  #view: RunView | undefined;
  #latest: readonly OutputLine[] = [];
  #redraw: NodeJS.Timeout | undefined;
  #ticking: NodeJS.Timeout | undefined;

  constructor({ terminal, now }: Pick<CliContext, 'terminal' | 'now'>, withOutput: boolean) {
    this.#terminal = terminal;
    this.#now = now;
    this.#withOutput = withOutput;
  }

  show(_: RunCommit, lines: readonly string[], view: RunView | undefined): void {
    const { stdout } = process;
    const { columns, height } = this.#size();
    this.#ticking ??= setInterval(() => this.#view && this.#draw(), TICK_MS);
    stdout.cork();
    // What is higher than the screen would lose its top.
    for (const block of blocksOf(lines, height))
      this.#update.persist(block.map((line) => clipToWidth(line, columns - 1)).join('\n'));
    if (view !== undefined) {
      this.#view = view;
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
    clearInterval(this.#ticking);
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
    const frame = ['', ...this.#drawing(columns, height), ...(latest.length === 0 ? [] : ['', ...latest])];
    // An empty line is taken for the one that ends a frame, and what is below it would stand a line too high.
    this.#update(frame.map((line) => (line === '' ? ' ' : line)).join('\n'));
  }

  #drawing(columns: number, height: number): string[] {
    const view = this.#view;
    if (view === undefined) return [];
    const waits = waitLines(view).map((line) => clipToWidth(line, columns - 1));
    const rows = height - 2 - waits.length - (this.#withOutput ? outputRows(height) + 1 : 0);
    return [...drawingOf(view, { ...this.#terminal, columns }, Math.max(1, rows), this.#now()), ...waits];
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

import { createLogUpdate } from 'log-update';
import type { NatsConnection } from '@nats-io/transport-node';
import type { RunCommit, RunId, RunView } from '#proto';
import { clip } from './clean.js';
import { failure } from './errors.js';
import { EXIT, exitCodeOfRun, type ExitCode } from './exit-codes.js';
import { see, viewOfWatched, watchFrom } from './live-view.js';
import { followRun } from './log.client.js';
import { drawingOf } from './run-text.js';
import { printJson, type CliContext, type Terminal } from './terminal.js';

/** Rows that are never drawn on: the shell's prompt and a line of context. */
const ROWS_SPARED = 4;
const ROWS_WITHOUT_TERMINAL = 24;

interface Screen {
  /** Without a view the state is already past: only its lines are worth showing. */
  show(commit: RunCommit, lines: readonly string[], view: RunView | undefined): void;
  end(): void;
}

export interface WatchOptions {
  readonly manner?: 'shown' | 'quiet';
  /** An end before this event is not the one that is waited for: the run was taken up again since. */
  readonly from?: number;
}

/**
 * Shows a run until it ends: on a terminal the constellation with the events scrolling above it, to a pipe one line per
 * event, with --json one JSON object per event. Answers the last state, or undefined when the watcher gave up first.
 */
export async function watchRun(
  context: CliContext,
  nc: NatsConnection,
  runId: RunId,
  { manner = 'shown', from = 0 }: WatchOptions = {},
): Promise<RunView | undefined> {
  const screen = screenFor(context, manner);
  let watched = watchFrom(runId);
  try {
    for await (const { commit, behind } of followRun(nc, runId, context.signal)) {
      const seen = see(watched, commit);
      watched = seen.watched;
      const caughtUp = behind === 0;
      const { lines } = seen;
      if (lines.length > 0) screen.show(commit, lines, caughtUp ? viewOfWatched(watched) : undefined);
      // What is there already may go on after an end: a run can be reopened.
      if (watched.ended && caughtUp && watched.run.sequence >= from) return viewOfWatched(watched);
    }
  } finally {
    screen.end();
  }
  if (context.signal.aborted) return undefined;
  throw failure('The connection to the bus ended before the run did.');
}

/** As `watchRun`, for commands that wait: with --json the state at the end and nothing else. The exit code says how it ended. */
export async function waitForEnd(
  context: CliContext,
  nc: NatsConnection,
  runId: RunId,
  options: Pick<WatchOptions, 'from'> = {},
): Promise<ExitCode> {
  const view = await watchRun(context, nc, runId, { manner: context.json ? 'quiet' : 'shown', ...options });
  if (view === undefined) return EXIT.failure;
  if (context.json) printJson(context, view);
  return exitCodeOfRun(view);
}

function screenFor({ terminal, json }: CliContext, manner: 'shown' | 'quiet'): Screen {
  const end = (): void => {};
  if (manner === 'quiet') return { show: () => {}, end };
  if (json) {
    const show = ({ at, events }: RunCommit): void =>
      events.forEach((event) => terminal.out(JSON.stringify({ at, ...event })));
    return { show, end };
  }
  if (terminal.isTerminal) return drawingScreen(terminal);
  return { show: (_, lines) => lines.forEach((line) => terminal.out(line)), end };
}

/** Only what differs from the last frame is written, and lines and drawing leave in one piece: nothing flickers. */
function drawingScreen(terminal: Terminal): Screen {
  const { stdout } = process;
  const update = createLogUpdate(stdout, { showCursor: true });
  return {
    show: (_, lines, view) => {
      const rows = stdout.rows ?? ROWS_WITHOUT_TERMINAL;
      const [columns, height] = [stdout.columns ?? terminal.columns, Math.max(1, rows - ROWS_SPARED)];
      stdout.cork();
      // What is higher than the screen would lose its top.
      for (const block of blocksOf(lines, height))
        update.persist(block.map((line) => clip(line, columns - 1)).join('\n'));
      if (view !== undefined) update(['', ...drawingOf(view, { ...terminal, columns }, height - 2)].join('\n'));
      stdout.uncork();
    },
    end: () => update.done(),
  };
}

function blocksOf<T>(items: readonly T[], size: number): T[][] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, index) => items.slice(index * size, (index + 1) * size));
}

import { setTimeout as sleep } from 'node:timers/promises';
import { createLogUpdate } from 'log-update';
import { keepingBus } from '../bus/index.js';
import { clockText, CliError, cleanLine, EXIT, type CliContext, type ExitCode } from '../terminal/index.js';
import { newLines, sheetOf, type ListPicture } from './list-picture.js';

const EVERY_MS = 2_000;
/** Below the picture stands the cursor. */
const ROWS_SPARED = 1;
const ROWS_WITHOUT_TERMINAL = 24;

/** Prints a list once. */
type Show = (context: CliContext) => Promise<ExitCode>;

/**
 * Shows a list once, or until somebody ends it: on a terminal as a picture that is drawn anew, to a pipe the lines that are new or have
 * changed, with --json one document whenever there is another. While nobody answers the last picture stays, with the reason below it;
 * a list that could not be shown at all ends as it would have without `isWatched`.
 * @param pause resolves when it is time to look again, or the signal is aborted
 */
export function shownAgain(
  context: CliContext,
  isWatched: boolean,
  show: Show,
  pause: (signal: AbortSignal) => Promise<unknown> = afterAWhile,
): Promise<ExitCode> {
  return isWatched ? keepingBus(context, () => shownUntilEnded(context, show, pause)) : show(context);
}

async function shownUntilEnded(
  context: CliContext,
  show: Show,
  pause: (signal: AbortSignal) => Promise<unknown>,
): Promise<ExitCode> {
  const { signal } = context;
  const sheet = sheetFor(context);
  let last: ListPicture | undefined;
  try {
    while (!signal.aborted) {
      const now = await pictureOf(context, show, last);
      sheet.draw(now, last);
      last = now;
      await pause(signal);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    sheet.end();
  }
  return EXIT.ok;
}

const afterAWhile = (signal: AbortSignal): Promise<unknown> => sleep(EVERY_MS, undefined, { signal }).catch(() => {});

async function pictureOf(context: CliContext, show: Show, last: ListPicture | undefined): Promise<ListPicture> {
  const [out, err]: [string[], string[]] = [[], []];
  const columns = process.stdout.columns ?? context.terminal.columns;
  const terminal = {
    ...context.terminal,
    columns,
    out: (text: string): void => void out.push(...text.split('\n')),
    err: (text: string): void => void err.push(...text.split('\n')),
  };
  try {
    await show({ ...context, terminal });
    return { out, err };
  } catch (error) {
    if (last === undefined || !(error instanceof CliError) || error.exitCode !== EXIT.unreachable) throw error;
    return { out: last.out, err: [cleanLine(error.message)] };
  }
}

interface Sheet {
  draw(now: ListPicture, before: ListPicture | undefined): void;
  end(): void;
}

function sheetFor(context: CliContext): Sheet {
  const { terminal, json } = context;
  const end = (): void => {};
  const sayNew = (now: ListPicture, before: ListPicture | undefined): void =>
    newLines(before?.err ?? [], now.err).forEach((line) => terminal.err(line));
  if (json) {
    const draw: Sheet['draw'] = (now, before) => {
      sayNew(now, before);
      const text = now.out.join('\n');
      if (text !== before?.out.join('\n')) terminal.out(text);
    };
    return { draw, end };
  }
  if (terminal.isTerminal) return drawnSheet(context);
  const draw: Sheet['draw'] = (now, before) => {
    newLines(before?.out ?? [], now.out).forEach((line) => terminal.out(line));
    sayNew(now, before);
  };
  return { draw, end };
}

function drawnSheet({ terminal, now: clock }: CliContext): Sheet {
  const { stdout } = process;
  const update = createLogUpdate(stdout, { showCursor: true });
  return {
    draw: (now) => {
      const foot = `${clockText(clock())}  every ${EVERY_MS / 1_000} s; Ctrl-C ends`;
      const columns = stdout.columns ?? terminal.columns;
      const rows = (stdout.rows ?? ROWS_WITHOUT_TERMINAL) - ROWS_SPARED;
      update(
        sheetOf(now, { columns, rows, foot })
          .map((line) => (line === '' ? ' ' : line))
          .join('\n'),
      );
    },
    end: () => update.done(),
  };
}

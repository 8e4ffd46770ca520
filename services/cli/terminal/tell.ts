import { EXIT, type ExitCode } from './exit-codes.js';
import { renderTable, type Column } from './table.js';
import { printJson, type CliContext } from './terminal.js';
import { aboutThatSystem } from './typed-again.js';

const LEAD_CHARS = 7;

/** Ends a command that went well with its result: as JSON to a program, else in words, if there are any. */
export function tell(context: CliContext, value: unknown, words?: string): ExitCode {
  if (context.json) printJson(context, value);
  else if (words !== undefined) context.terminal.out(words);
  return EXIT.ok;
}

interface Found<R> {
  readonly json: unknown;
  readonly rows: readonly R[];
  readonly columns: readonly Column<R>[];
  /** Said about the work, not as its result, when there are no rows. */
  readonly nothing: string;
  /** All columns, however many the terminal has. */
  readonly isWide?: boolean;
}

/** The same with a table of what was found. */
export function tellTable<R>(
  context: CliContext,
  { json, rows, columns, nothing, isWide = false }: Found<R>,
): ExitCode {
  const { terminal } = context;
  const { isTerminal, color } = terminal;
  const place = isWide ? { isTerminal, color } : terminal;
  if (context.json || rows.length > 0) return tell(context, json, renderTable(rows, columns, place));
  terminal.err(nothing);
  return EXIT.ok;
}

/** A command line that may come next, and what it does. */
export interface NextStep {
  readonly words: string;
  readonly what: string;
}

/** What a person may want to type now. Said about the work; a pipe and a program are not told. */
export function tellNext(context: CliContext, meant: readonly NextStep[]): void {
  const { terminal, json } = context;
  if (json || !terminal.isTerminal || meant.length === 0) return;
  const steps = meant.map(({ words, what }) => ({ words: aboutThatSystem(context, words), what }));
  const width = Math.max(...steps.map(({ words }) => words.length));
  const aligned = steps.map(({ words, what }) => `${words.padEnd(width)}   ${what}`);
  const fits = (line: string): boolean => LEAD_CHARS + line.length <= terminal.columns;
  const lines = aligned.every(fits) ? aligned : steps.map((step) => unaligned(step, fits));
  const led = lines.map((line, index) => `${(index === 0 ? 'next:' : '').padEnd(LEAD_CHARS)}${line}`);
  terminal.err(['', ...led].join('\n'));
}

/** What is typed is more than what is said of it. */
function unaligned({ words, what }: NextStep, fits: (line: string) => boolean): string {
  const line = `${words}   ${what}`;
  return fits(line) ? line : words;
}

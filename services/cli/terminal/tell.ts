import { EXIT, type ExitCode } from './exit-codes.js';
import { renderTable, type Column } from './table.js';
import { printJson, type CliContext } from './terminal.js';

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
}

/** The same with a table of what was found. */
export function tellTable<R>(context: CliContext, { json, rows, columns, nothing }: Found<R>): ExitCode {
  const { terminal } = context;
  if (context.json || rows.length > 0) return tell(context, json, renderTable(rows, columns, terminal));
  terminal.err(nothing);
  return EXIT.ok;
}

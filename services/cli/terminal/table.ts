import Table from 'cli-table3';
import { cleanLine } from './clean.js';
import type { Terminal } from './terminal.js';
import { paintFor, paintStatus } from './style.js';

export interface Column<R> {
  readonly title: string;
  readonly value: (row: R) => string;
  /** The cell is a status word and gets its colour. */
  readonly status?: boolean;
}

const NO_BORDERS = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '  ',
};

/** For a person an aligned table with a head; for a pipe one line per row, its cells separated by tabs. */
export function renderTable<R>(
  rows: readonly R[],
  columns: readonly Column<R>[],
  terminal: Pick<Terminal, 'isTerminal' | 'color'>,
): string {
  const cells = rows.map((row) => columns.map((column) => cleanLine(column.value(row))));
  if (!terminal.isTerminal) return cells.map((row) => row.join('\t')).join('\n');
  const paint = paintFor(terminal);
  const table = new Table({
    head: columns.map(({ title }) => paint('bold', title)),
    chars: NO_BORDERS,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  });
  for (const row of cells) {
    table.push(row.map((cell, index) => (columns[index]?.status === true ? paintStatus(paint, cell) : cell)));
  }
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}

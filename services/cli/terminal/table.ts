import Table from 'cli-table3';
import { cleanLine, clipToWidth } from './clean.js';
import { momentText, shortMomentText } from './local-time.js';
import type { Terminal } from './terminal.js';
import { paintFor, paintStatus } from './style.js';

export interface Column<R> {
  readonly title: string;
  readonly value: (row: R) => string;
  /** The cell is a status word and gets its colour. */
  readonly status?: boolean;
  /** The cell is an instant, and shown as the time where people are; a dash is none. */
  readonly time?: boolean;
  /** Left out on a screen that is too narrow for all: the last one first. */
  readonly spare?: boolean;
}

const SPACE = 2;
/** What is left of a cell that is cut, at least. */
const CELL_CHARS_MIN = 4;

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

/** For a person an aligned table with a head, as wide as the screen at most; for a pipe one line per row, its cells separated by tabs. */
export function renderTable<R>(
  rows: readonly R[],
  allColumns: readonly Column<R>[],
  terminal: Pick<Terminal, 'isTerminal' | 'color'> & Partial<Pick<Terminal, 'columns'>>,
): string {
  const timeText = terminal.isTerminal ? shortMomentText : momentText;
  const textOf = (row: R, { value, time }: Column<R>): string => {
    const text = value(row);
    return cleanLine(time === true && text !== '-' ? timeText(text) : text);
  };
  const all = rows.map((row) => allColumns.map((column) => textOf(row, column)));
  if (!terminal.isTerminal) return all.map((row) => row.join('\t')).join('\n');
  const { kept, widths } = fitted(allColumns, all, terminal.columns ?? Number.MAX_SAFE_INTEGER);
  const columns = kept.flatMap((at) => allColumns[at] ?? []);
  const named = widths[0] ?? 0;
  const names: (string | undefined)[] = [];
  const cells = all.map((row) => {
    const [name = ''] = row;
    const isTooLong = widthOf(name) > named;
    names.push(isTooLong ? name : undefined);
    return kept.map((at, index) => (index === 0 && isTooLong ? '' : clipToWidth(row[at] ?? '', widths[index] ?? 0)));
  });
  const paint = paintFor(terminal);
  const table = new Table({
    head: columns.map(({ title }, index) => paint('bold', clipToWidth(title, widths[index] ?? 0))),
    // It cuts what is of characters twice as wide.
    colWidths: [...widths],
    chars: NO_BORDERS,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  });
  for (const row of cells) {
    table.push(row.map((cell, index) => (columns[index]?.status === true ? paintStatus(paint, cell) : cell)));
  }
  const [head = '', ...lines] = table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd());
  const below = lines.flatMap((line, index) => (names[index] === undefined ? [line] : [names[index], line]));
  return [head, ...below].join('\n');
}

/** Of the screen: a name that takes more of it has a line of its own where the table would be too wide. */
const NAME_SHARE_MAX = 0.6;

/**
 * The columns that stay, by their places, and how wide they may be: first those go that say nothing, then spare ones, then the widest is
 * cut. What names a row is never cut, because it is typed again: a name that is wider than its column stands on a line above its row.
 */
function fitted<R>(
  columns: readonly Column<R>[],
  cells: readonly (readonly string[])[],
  screen: number,
): { readonly kept: readonly number[]; readonly widths: readonly number[] } {
  const wide = columns.map(({ title }, at) =>
    cells.reduce((width, row) => Math.max(width, widthOf(row[at] ?? '')), title.length),
  );
  const tooWide = (widths: readonly number[]): number =>
    widths.reduce((sum, width) => sum + width + SPACE, -SPACE) - screen;
  const nameWithin = (room: number): number =>
    cells
      .map(([name = '']) => widthOf(name))
      .reduce((width, name) => (name <= room ? Math.max(width, name) : width), columns[0]?.title.length ?? 0);
  if (tooWide(wide) > 0) wide[0] = nameWithin(Math.floor(screen * NAME_SHARE_MAX));
  let kept = columns.map((_, at) => at);
  const widthsOf = (places: readonly number[]): number[] => places.map((at) => wide[at] ?? 0);
  const saysNothing = (at: number): boolean => at > 0 && cells.every((row) => row[at] === '-' || row[at] === '');
  while (tooWide(widthsOf(kept)) > 0) {
    const next = kept.findLast(saysNothing) ?? kept.findLast((at) => at > 0 && columns[at]?.spare === true);
    if (next === undefined) break;
    kept = kept.filter((at) => at !== next);
  }
  const widths = widthsOf(kept);
  for (let over = tooWide(widths); over > 0; over--) {
    const widest = widths.reduce((found, width, at) => (at > 0 && width > (widths[found] ?? 0) ? at : found), 1);
    const width = widths[widest] ?? 0;
    if (width > CELL_CHARS_MIN) {
      widths[widest] = width - 1;
      continue;
    }
    widths[0] = nameWithin((widths[0] ?? 0) - over);
    break;
  }
  return { kept, widths };
}

const widthOf = (text: string): number => Array.from(text).length;

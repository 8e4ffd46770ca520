/** What a list prints when it is shown once. */
export interface ListPicture {
  /** Its result: lines, which may have colours. */
  readonly out: readonly string[];
  /** What was said about it. */
  readonly err: readonly string[];
}

interface Sheet {
  readonly columns: number;
  readonly rows: number;
  /** The last line. */
  readonly foot: string;
}

/** A picture as it fits a screen: its beginning, how much more there is, what was said, and the foot. */
export function sheetOf({ out, err }: ListPicture, { columns, rows, foot }: Sheet): string[] {
  const below = ['', ...err, foot];
  const rowsOf = (line: string): number => Math.max(1, Math.ceil(widthOf(line) / columns));
  const room = rows - below.reduce((sum, line) => sum + rowsOf(line), 0);
  const ends: number[] = [];
  for (const line of out) ends.push((ends.at(-1) ?? 0) + rowsOf(line));
  if ((ends.at(-1) ?? 0) <= room) return [...out, ...below];
  const shown = ends.filter((end) => end < room).length;
  return [...out.slice(0, shown), `… and ${out.length - shown} lines more`, ...below];
}

/** Lines that the picture before did not have: what is new, and what has changed. A line that is there twice counts twice. */
export function newLines(before: readonly string[], now: readonly string[]): string[] {
  const known = new Map<string, number>();
  for (const line of before) known.set(line, (known.get(line) ?? 0) + 1);
  return now.filter((line) => {
    const count = known.get(line) ?? 0;
    known.set(line, count - 1);
    return count <= 0;
  });
}

const COLOURS = new RegExp(String.raw`\u001B\[[\d;]*m`, 'gu');

function widthOf(line: string): number {
  return Array.from(line.replaceAll(COLOURS, '')).length;
}

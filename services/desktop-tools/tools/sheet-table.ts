import type { Cell } from '../uno/index.js';

/** Rows as a table in Markdown, the first of them as its heading. */
export function markdownOf(rows: readonly (readonly Cell[])[]): string {
  const [heading = [], ...others] = rows.map((row) => `| ${row.map(textOf).join(' | ')} |`);
  const line = `|${' --- |'.repeat(rows[0]?.length ?? 0)}`;
  return [heading, line, ...others].join('\n');
}

const textOf = (cell: Cell): string => `${cell ?? ''}`.replaceAll('|', String.raw`\|`).replaceAll(/\s*\n\s*/gu, ' ');

/** The columns by the names in the first row in this order, and the others behind them; a sentence when there is not each of them once. */
export function reordered(rows: readonly (readonly Cell[])[], order: readonly string[]): Cell[][] | string {
  const heading = (rows[0] ?? []).map((cell) => `${cell ?? ''}`);
  const missing = order.find(
    (name) => heading.indexOf(name) === -1 || heading.indexOf(name) !== heading.lastIndexOf(name),
  );
  if (missing !== undefined) return `the first row has not one column named ${JSON.stringify(missing)}`;
  if (new Set(order).size < order.length) return 'a column is named twice';
  const first = order.map((name) => heading.indexOf(name));
  const places = [...first, ...Array.from(heading.keys()).filter((place) => !first.includes(place))];
  return rows.map((row) => places.map((place) => row[place] ?? null));
}

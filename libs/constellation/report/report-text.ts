import { visibleText, withoutTerminalSequences } from '#libs/visible';

/** What a command printed is hostile until it went through here: terminal sequences are taken out, and what nobody sees is an escape. */
export function clean(text: string): string {
  const lines = withoutTerminalSequences(text).replaceAll(/\r\n?|[\u{2028}\u{2029}\u{85}]/gu, '\n');
  return visibleText(lines);
}

/** Foreign text as one line, for places where nothing but a line break could do harm. */
export function oneLine(text: string, charsMax = Number.POSITIVE_INFINITY): string {
  return cut(clean(text).replaceAll(/\s+/gu, ' ').trim(), charsMax);
}

/** One line of foreign text as a code span: nothing in it is read as Markdown, HTML or a link. */
export function span(text: string, charsMax = SPAN_CHARS_MAX): string {
  const line = oneLine(text, charsMax);
  if (line === '') return '(empty)';
  const ticks = '`'.repeat(longestRunOfTicks(line) + 1);
  const pad = line.startsWith('`') || line.endsWith('`') ? ' ' : '';
  return `${ticks}${pad}${line}${pad}${ticks}`;
}

/**
 * A code span inside a table. A pipe ends a cell even within a code span, so it is escaped; backslashes in front of it
 * are kept apart, because a renderer may read two of them as one escaped backslash and the pipe as the end of the cell.
 */
export function cell(text: string, charsMax = SPAN_CHARS_MAX): string {
  return span(text, charsMax)
    .replaceAll(/\\+(?=\|)/gu, '$& ')
    .replaceAll('|', '\\|');
}

/** Foreign text as a block. The fence is longer than any run of backticks in it, so nothing inside can close it. */
export function fence(text: string, language = ''): string {
  const body = clean(text).replace(/\n+$/u, '');
  const ticks = '`'.repeat(Math.max(3, longestRunOfTicks(body) + 1));
  return `${ticks}${language}\n${body}\n${ticks}`;
}

/** A table whose cells were made by `cell` or are the project's own words. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** Items made by `span` or `cell`, or the project's own words. */
export function list(items: readonly string[]): string {
  return items.map((item) => `- ${item}`).join('\n');
}

/**
 * Blocks that are folded away until somebody opens them. The summary stands in HTML, so it is made of words of ours and
 * numbers only; the empty lines let the blocks be Markdown again, in which nothing foreign leaves its fence, span or cell.
 */
export function details(summary: string, blocks: readonly string[]): string {
  return (
    ['<details>', `<summary>${summary.replaceAll(/[^\w .,:;()-]/gu, '')}</summary>`].join('\n') +
    `\n\n${blocks.join('\n\n')}\n\n</details>`
  );
}

/** Keeps head and tail and says how much is missing. */
export function cut(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const head = Math.ceil((charsMax * 2) / 3);
  const tail = charsMax - head;
  const missing = ` … ${text.length - charsMax} characters left out … `;
  return `${text.slice(0, head)}${missing}${text.slice(text.length - tail)}`.toWellFormed();
}

/** `850 ms`, `12.3 s`, `4 min 10 s`, `2 h 5 min`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  const minutes = Math.round(seconds / 60);
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

const SPAN_CHARS_MAX = 240;

function longestRunOfTicks(text: string): number {
  return (text.match(/`+/gu) ?? []).reduce((longest, run) => Math.max(longest, run.length), 0);
}

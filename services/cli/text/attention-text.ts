import type { AttentionEntry, UnseenSource } from '#proto';
import {
  cleanLine,
  clipToWidth,
  momentText,
  paintFor,
  renderTable,
  brokenAtWords,
  type Terminal,
} from '../terminal/index.js';

type Screen = Pick<Terminal, 'isTerminal' | 'color'>;

const WIDTH = 78;
const INDENT = '    ';
/** Of what is longer the beginning says what it is about; what to type for the rest stands below it. */
const WHAT_LINES_MAX = 3;

/** For a person a few lines for each; for a pipe one, its cells separated by tabs. */
export function attentionText(entries: readonly AttentionEntry[], screen: Screen): string {
  if (screen.isTerminal) return entries.map((entry) => blockOf(entry, screen)).join('\n');
  const columns = [
    { title: 'ID', value: ({ id }: AttentionEntry) => id },
    { title: 'KIND', value: ({ kind }: AttentionEntry) => kind },
    { title: 'SINCE', value: ({ since }: AttentionEntry) => since, time: true },
    { title: 'STATE', value: stateText },
    { title: 'WHAT', value: ({ what }: AttentionEntry) => what },
    { title: 'NEXT', value: ({ next }: AttentionEntry) => next },
  ];
  return renderTable(entries, columns, screen);
}

function blockOf(entry: AttentionEntry, screen: Screen): string {
  const { id, kind, since, what, next, reason } = entry;
  const paint = paintFor(screen);
  const head = `${paint('bold', id)}  ${kind}  ${momentText(since)}  ${stateText(entry)}`;
  const why = reason === null ? [] : [`${INDENT}${cleanLine(reason)}`];
  const lines = linesOf(cleanLine(what)).map((line) => `${INDENT}${line}`);
  return [head, ...lines, ...why, `${INDENT}${paint('dim', cleanLine(next))}`].join('\n');
}

function linesOf(text: string): string[] {
  const room = WIDTH - INDENT.length;
  const lines = brokenAtWords(text, room);
  if (lines.length <= WHAT_LINES_MAX) return lines;
  const last = lines.splice(WHAT_LINES_MAX - 1).join(' ');
  return [...lines, clipToWidth(last, room)];
}

function stateText({ state, by }: AttentionEntry): string {
  return by === null ? state : cleanLine(`${state} by ${by.id}`);
}

/** What needs somebody, in a few lines: how many, the newest, and what to type. `[none]` is said only when everything could be seen. */
export function attentionHead({ entries, unseen, open, taken }: AttentionHead): string[] {
  const all = open + taken;
  if (all === 0 && unseen.length === 0) return ['attention: [none]'];
  return [
    ...(all === 0 ? [] : [`attention: ${attentionTotal({ open, taken })}`, ...attentionLines(entries)]),
    ...unseenText(unseen).map((line) => `attention: ${line}`),
    '  see: orrery attention',
  ];
}

interface AttentionHead {
  readonly open: number;
  readonly taken: number;
  readonly entries: readonly AttentionEntry[];
  readonly unseen: readonly UnseenSource[];
}

/** One line for each, as wide as a terminal is. */
function attentionLines(entries: readonly AttentionEntry[]): string[] {
  return entries.map(({ id, kind, what, by }) => {
    const line = `${id} ${by === null ? '' : `(${by.id}) `}${kind}: ${what}`;
    return `  ${clipToWidth(cleanLine(line), WIDTH - 2)}`;
  });
}

interface Counted {
  readonly open: number;
  readonly taken: number;
}

/** `3 need somebody, 1 of them taken on`; of a part of the inbox `3 of 12 need somebody`. */
export function attentionTotal({ open, taken }: Counted, inbox?: Counted): string {
  const all = open + taken;
  const whole = inbox === undefined ? all : inbox.open + inbox.taken;
  if (whole === 0) return 'Nothing needs anybody.';
  const of = inbox === undefined ? '' : ` of ${whole}`;
  const some = taken === 0 ? '' : `, ${taken} of them taken on`;
  return `${all}${of} ${all === 1 ? 'needs' : 'need'} somebody${some}`;
}

/** What could not be seen, and why. */
export function unseenText(unseen: readonly UnseenSource[]): string[] {
  return unseen.map(({ source, reason }) => cleanLine(`could not be seen: ${source} (${reason})`));
}

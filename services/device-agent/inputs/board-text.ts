import { writerText } from '#libs/constellation';
import type { BoardTold } from '#libs/attempt';
import type { VerbOutcome } from '#libs/messaging';
import { sentenceOf, type BoardFound, type ShownEntry } from '#proto';

/** A value that is not longer is shown in the list. */
const SHORT_BYTES_MAX = 500;
/** Names that are told to who asked for another one. */
const NAMES_MAX = 20;

/** The board in short, a line for each value. */
export function entriesText(entries: readonly ShownEntry[]): string {
  if (entries.length === 0) return 'Nothing stands on the board.';
  const lines = entries.map((entry) =>
    JSON.stringify({ ...heading(entry), ...(entry.bytes <= SHORT_BYTES_MAX && { value: entry.value }) }),
  );
  return lines.join('\n');
}

/** One value as text that has lines, and what there is to say of it. */
export function entryText(entry: ShownEntry): { readonly heading: string; readonly text: string } {
  const { value } = entry;
  return {
    heading: JSON.stringify(heading(entry)),
    text: typeof value === 'string' ? value : JSON.stringify(value, null, 2),
  };
}

export function missingText(name: string, entries: readonly ShownEntry[]): string {
  if (entries.length === 0) return `Nothing stands under "${name}", nor under any other name.`;
  const names = entries.slice(0, NAMES_MAX).map((entry) => entry.name);
  return `Nothing stands under "${name}"; there is ${names.join(', ')}${entries.length > NAMES_MAX ? ', ...' : ''}.`;
}

/** What became of a write; undefined when nobody knows. */
export function writtenText(outcome: VerbOutcome, name: string): BoardTold | undefined {
  if (outcome.answer === 'unknown') return undefined;
  const { answer, reason, board } = outcome;
  if (answer === 'accepted') {
    return {
      done: true,
      text: `It stands under "${name}"${board?.revision === undefined ? '' : `, revision ${board.revision}`}.`,
    };
  }
  const why = reason === undefined ? 'it was refused' : reason.issues.map(sentenceOf).join('; ') || reason.message;
  const now = board === undefined || board === null ? '' : `\nThere is: ${JSON.stringify(foundOf(board))}`;
  return { done: false, text: `Nothing was written: ${why}.${now}` };
}

const foundOf = (found: BoardFound) => ({
  ...heading(found),
  ...(found.value !== undefined && { value: found.value }),
});

function heading(entry: BoardFound) {
  const { name, revision, by, bytes } = entry;
  return { name, revision, by: by === undefined ? undefined : writerText({ ...entry, by }), bytes };
}

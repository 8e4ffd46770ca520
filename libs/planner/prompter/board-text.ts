import { shownBoard, writerText, type Run } from '#libs/constellation';
import { BOARD_NOTES, type ShownEntry } from '#proto';
import { clipped, jsonLine, linesWithin, type Telling } from './bounded.js';
import { PLANNER_TOKENS } from './parts.js';

/** Of a value; of many, or of long ones, less. */
const CHARS = [2_000, 400, 80, 0] as const;

/**
 * What stands on the board of the run, a line of JSON for each value, the newest first. In less detail rather than in part; what agents
 * noted stands with their tasks.
 */
export function boardText(run: Run, { fence, countTokens }: Telling): string {
  const entries = shownBoard(run)
    .filter(({ name }) => name !== BOARD_NOTES)
    .toSorted((one, other) => (other.revision ?? 0) - (one.revision ?? 0));
  if (entries.length === 0) return '';
  for (const chars of CHARS) {
    const lines = entries.map((entry) => lineOf(entry, chars));
    const told = linesWithin(lines, PLANNER_TOKENS.board, countTokens);
    if (told.omitted > 0 && chars !== CHARS.at(-1)) continue;
    const more = told.omitted === 0 ? [] : [`[${told.omitted} more are not shown]`];
    return [fence.around('board', told.lines.join('\n')), ...more].join('\n');
  }
  return '';
}

function lineOf(entry: ShownEntry, chars: number): string {
  const { name, revision, by, judge, bytes, value } = entry;
  const text = JSON.stringify(value);
  return jsonLine({
    name,
    revision,
    by: by === undefined ? undefined : writerText({ ...entry, by }),
    model: judge === true,
    ...(text.length <= chars ? { value } : { bytes, begins: clipped(text, chars) }),
  });
}

import type { FoundCommand, FoundText, SearchAnswer, SearchRequest } from '#proto';
import { cleanLine, clipToWidth, paintFor, paintStatus, type Paint, type Terminal } from '../../terminal/index.js';

/** A line of a terminal of 80 columns, without the two before it. */
const LINE_CHARS_MAX = 76;
/** Beside a hit that is shown. */
const AROUND_CHARS = 32;

/** One command in a few lines: when and where, what, what was found in it, and how to see all of it. */
export function foundLines(command: FoundCommand, terminal: Pick<Terminal, 'color'>): string[] {
  const paint = paintFor(terminal);
  const { at, device, by, line, tool, rule, decision, found, cut } = command;
  const head = [
    `${at.slice(0, 19).replace('T', ' ')}Z`,
    paint('bold', device ?? 'no device'),
    endedText(command, paint),
    ...(by === null ? [] : [`by ${cleanLine(by)}`]),
    ...(rule === null ? [] : [`${decision ?? ''} ${cleanLine(rule)}`]),
  ];
  const what = cleanLine(line);
  return [
    head.join('  '),
    `  ${clipToWidth(what === '' ? cleanLine(tool) : what, LINE_CHARS_MAX)}`,
    ...(found === null || (found.of === 'command' && found.marks.length === 0) ? [] : [`  ${foundText(found, paint)}`]),
    ...(cut ? [paint('dim', '  only a part of its output was looked at; all of it:')] : []),
    paint('dim', `  ${moreOf(command)}`),
  ];
}

/** What to type to see all that it printed; of what never ran, why. */
function moreOf({ runId, taskId, attempt, step, index, state }: FoundCommand): string {
  if (state === 'DENIED' || state === 'ASKED') return `orrery steps ${runId} ${taskId}`;
  return `orrery output ${runId} ${taskId} --attempt ${attempt} --step ${step}.${index}`;
}

function endedText({ state, exitCode }: FoundCommand, paint: Paint): string {
  if (exitCode === null) return paintStatus(paint, state);
  return exitCode === 0 ? 'exit 0' : paint('red', `exit ${exitCode}`);
}

/** The first hit with what stands beside it, each hit within marked. */
function foundText({ of, text, marks }: FoundText, paint: Paint): string {
  let line = `${of}: `;
  let room = LINE_CHARS_MAX - line.length;
  for (const { said, isHit } of piecesOf(text, marks)) {
    // Two for the marks of a hit, one for the dots.
    if (room < 3) return `${line}…`;
    const shown = clipToWidth(said, isHit ? room - 2 : room);
    line += isHit ? `«${paint('yellow', shown)}»` : shown;
    if (shown !== said) return line;
    room -= Array.from(shown).length + (isHit ? 2 : 0);
  }
  return line;
}

interface Piece {
  readonly said: string;
  readonly isHit: boolean;
}

/** The hits and what stands between them, as it is shown; little of what stands before the first one. */
function piecesOf(text: string, marks: FoundText['marks']): Piece[] {
  const [first] = marks;
  const before = Array.from(spaced(text.slice(0, first?.from ?? 0)));
  const lead = before.length > AROUND_CHARS ? ['…', ...before.slice(-AROUND_CHARS)] : before;
  const pieces: Piece[] = [{ said: lead.join(''), isHit: false }];
  let at = first?.from ?? 0;
  for (const { from, to } of marks) {
    pieces.push({ said: spaced(text.slice(at, from)), isHit: false });
    pieces.push({ said: cleanLine(text.slice(from, to)), isHit: true });
    at = to;
  }
  return [...pieces, { said: spaced(text.slice(at)).trimEnd(), isHit: false }].filter(({ said }) => said !== '');
}

/** On one line; a space beside a mark stays. */
function spaced(text: string): string {
  const clean = cleanLine(text);
  if (clean === '') return text === '' ? '' : ' ';
  return `${/^\s/u.test(text) ? ' ' : ''}${clean}${/\s$/u.test(text) ? ' ' : ''}`;
}

/** Words that a shell takes as they are. */
const PLAIN = /^[\p{L}\p{N}_.:/][\p{L}\p{N}_.:/ -]*$/u;

/** What else could be tried, and where nothing was looked for. */
export function nothingText({ words }: SearchRequest): string[] {
  if (words === undefined) return ['No command is recorded of which all of that holds.'];
  const phrase = /"([^"]+)"/u.exec(words)?.[1];
  const apart = phrase !== undefined && PLAIN.test(phrase) ? `: orrery search ${phrase}` : '';
  const other =
    phrase === undefined
      ? 'a word is found whole, or by its beginning: orrery search "nginx*"'
      : `the words stand one behind the other nowhere. Look for each by itself${apart}`;
  return [
    `Nothing is found: ${other}`,
    "Of an output over 4 MiB only the beginning is looked at; in all of it: orrery output <run> --grep 'word'",
  ];
}

/** What is not told yet, why, and what to type for it. */
export function endText({ before, cut, upTo }: SearchAnswer, nextPage: (before: string) => string): string[] {
  return [
    ...(cut === true ? ['the time for one search was used up; older commands are not looked at yet'] : []),
    ...(before === undefined ? [] : [`there may be older ones: ${nextPage(before)}`]),
    ...(upTo.behind === 0 ? [] : [`not complete yet: the newest ${upTo.behind} facts of attempts are not looked at`]),
  ];
}

import { paintFor, cleanLine, brokenAtWords, type Colour, type Terminal } from '../../terminal/index.js';

/** `warn`: it works, and somebody should look. `bad`: something does not work, or somebody can do what nobody should. */
export type DiagnosisState = 'ok' | 'warn' | 'bad';

/** One line of the page. */
export interface Diagnosis {
  readonly area: string;
  readonly state: DiagnosisState;
  readonly what: string;
  /** What a person can do about it. */
  readonly remedy?: string;
}

export const ok = (area: string, what: string): Diagnosis => ({ area, state: 'ok', what });
export const warn = (area: string, what: string, remedy: string): Diagnosis => ({ area, state: 'warn', what, remedy });
export const bad = (area: string, what: string, remedy: string): Diagnosis => ({ area, state: 'bad', what, remedy });

const COLOURS: Readonly<Record<DiagnosisState, Colour>> = { ok: 'green', warn: 'yellow', bad: 'red' };
const AREA_WIDTH = 10;
const WHAT_CHARS_MAX = 400;

/** The page, line by line; a remedy stands below what it is for. */
export function pageOf(
  findings: readonly Diagnosis[],
  terminal: Pick<Terminal, 'color' | 'isTerminal' | 'columns'>,
): string[] {
  const paint = paintFor(terminal);
  const indent = ' '.repeat(AREA_WIDTH + 8);
  return findings.flatMap(({ area, state, what, remedy }) => {
    const [first = '', ...more] = terminal.isTerminal
      ? brokenAtWords(cut(what), terminal.columns - indent.length)
      : [cut(what)];
    const lines = [`${paint(COLOURS[state], state.padEnd(4))}  ${area.padEnd(AREA_WIDTH)}  ${first}`];
    for (const line of more) lines.push(`${indent}${line}`);
    // What is to be typed stays one line, for who copies it.
    return remedy === undefined || state === 'ok' ? lines : [...lines, `${indent}${cut(remedy)}`];
  });
}

/** How many lines are of which kind, in one line. */
export function sumOf(findings: readonly Diagnosis[]): string {
  const count = (state: DiagnosisState): number => findings.filter((finding) => finding.state === state).length;
  return `${count('ok')} ok, ${count('warn')} to look at, ${count('bad')} bad`;
}

/** What servers say stands on it, too. */
function cut(text: string): string {
  const line = cleanLine(text);
  return line.length > WHAT_CHARS_MAX ? `${line.slice(0, WHAT_CHARS_MAX).toWellFormed()}…` : line;
}

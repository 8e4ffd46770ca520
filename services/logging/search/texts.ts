import type { CommandCall, FoundText } from '#proto';
import type { ReportedCommand } from '#libs/constellation';

/** What is looked at of one text that the log holds of a command: more than it has of a result, and than most commands say. */
const TEXT_UNITS_MAX = 256 * 1024;

export interface SearchedText {
  readonly of: FoundText['of'];
  readonly text: string;
}

type Printed = Pick<ReportedCommand, 'arguments' | 'stdout' | 'stderr' | 'output' | 'error'>;

/** The texts of a command in which words are looked for, as far as they are, and whether there is more of them. */
export function searchedTexts(printed: Printed): { readonly texts: readonly SearchedText[]; readonly isCut: boolean } {
  const { stdout, stderr, output, error } = printed;
  const whole: [FoundText['of'], string | null][] = [
    ['stdout', stdout],
    ['stderr', stderr],
    ['output', output === null ? null : readableText('output', output)],
    ['error', error],
    ['command', callText(printed)],
  ];
  const texts = whole.flatMap(([of, text]) => (text === null || text === '' ? [] : [{ of, text }]));
  return {
    texts: texts.map(({ of, text }) => ({ of, text: text.slice(0, TEXT_UNITS_MAX) })),
    isCut: texts.some(({ text }) => text.length > TEXT_UNITS_MAX),
  };
}

/** As its words are found: what a tool answers is JSON. */
export const readableText = (of: FoundText['of'], text: string): string => (of === 'output' ? unescaped(text) : text);

/** Of a call that has not run. */
export function callPrinted({ arguments: said }: CommandCall): Printed {
  return { arguments: said, stdout: null, stderr: null, output: null, error: null };
}

/** The line of a shell, and what else was said to the tool. */
function callText({ arguments: said }: Pick<Printed, 'arguments'>): string {
  const { command, ...more } = said;
  if (typeof command !== 'string') return unescaped(JSON.stringify(said));
  return Object.keys(more).length === 0 ? command : `${command}\n${unescaped(JSON.stringify(more))}`;
}

const ESCAPE = /\\(?:u([0-9a-f]{4})|(.))/giu;
const CONTROLS: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };

/** JSON as people read it: the letter of an escape is none of the word behind it. */
function unescaped(json: string): string {
  return json.replaceAll(ESCAPE, (_, code: string | undefined, letter: string) =>
    code === undefined ? (CONTROLS[letter] ?? letter) : String.fromCharCode(Number.parseInt(code, 16)),
  );
}

import { ExecCliResult, fileTexts, type TaskResult } from '#proto';
import { cutParts, cutText, type CutPart } from '../values/index.js';
import { cut, fence, span } from './report-text.js';

const FOREIGN_CHARS_MAX = 500;

/** What a tool answered, in fences; of a command what it printed. Says of what is cut how much there is. */
export function outputParts(result: TaskResult, charsMax: number): string[] {
  const { value } = result;
  const cli = ExecCliResult.safeParse(value).data;
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  const parts = cli === undefined ? { result: text } : { stdout: cli.stdout, stderr: cli.stderr };
  const shown = Object.entries(parts).filter(([, said]) => said !== '');
  return [
    ...shown.flatMap(([what, said]) => [`${what}:`, fence(cut(said, charsMax), 'text')]),
    ...wholeResultText(result),
  ];
}

/** Of a result that its event holds only head and tail of: how much there is, and where. */
export function wholeResultText(result: TaskResult): string[] {
  const files = fileTexts(result).map((text) => `File ${span(text, FOREIGN_CHARS_MAX)}.`);
  return [...cutParts(result).map(partText), ...files];
}

export function partText(part: CutPart): string {
  const { words, foreign } = cutText(part);
  const shown = foreign.map((text) => `: ${span(text, FOREIGN_CHARS_MAX)}`);
  return `${words[0]?.toUpperCase() ?? ''}${words.slice(1)}${shown.join('')}.`;
}

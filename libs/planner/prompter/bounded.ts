import type { Json } from '#proto';
import { countPieces, type CountTokens, excerpt, type Fence, type OutputText } from '#libs/prompter';

/** How text of others is put into a prompt. */
export interface Telling {
  readonly fence: Fence;
  readonly countTokens: CountTokens;
}

export interface Told {
  readonly text: string;
  /** Of the text, fences included, at most. */
  readonly tokens: number;
}

/** What is between two pieces, and what counting in pieces may miss. */
const BETWEEN_TOKENS = 2;

/**
 * A text in a fence; when it takes more than `tokensMax` tokens, or was cut before, its beginning and its end, each in a fence, with
 * a line of ours between.
 */
export function toldText(label: string, text: string | Cut, { fence, countTokens, tokensMax }: ToldOptions): Told {
  const around = fenceTokens(label, { fence, countTokens });
  const whole = typeof text === 'string' ? { head: text, tail: '', gapChars: 0 } : text;
  if (whole.gapChars === 0) {
    const { head, omitted, tokens } = excerpt(whole, Math.max(0, tokensMax - around), countTokens);
    if (omitted === null) return { text: fence.around(label, head), tokens: tokens + around };
  }
  const room = Math.max(0, tokensMax - 2 * around - GAP_TOKENS);
  const { head, tail, omitted, tokens } = excerpt(whole, room, countTokens);
  return {
    text: [
      fence.around(`${label}, beginning`, head),
      `[${omitted?.chars ?? 0} characters are left out here]`,
      fence.around(`${label}, end`, tail),
    ].join('\n'),
    tokens: tokens + 2 * around + GAP_TOKENS,
  };
}

/** A text of which the middle is not known. */
export type Cut = Pick<OutputText, 'head' | 'tail' | 'gapChars'>;

export interface ToldOptions extends Telling {
  readonly tokensMax: number;
}

/** The line between the two halves of a text, and the words `beginning` and `end`. */
const GAP_TOKENS = 20;

/** Of the two lines of a fence, which may have to say that something cannot be seen, with the line ends around them. */
export function fenceTokens(label: string, { fence, countTokens }: Telling): number {
  return countTokens(fence.around(label, '\0')) + BETWEEN_TOKENS;
}

export interface Lines {
  readonly lines: readonly string[];
  readonly tokens: number;
  /** How many were left out, from the first one that did not fit. */
  readonly omitted: number;
}

/** The first ones of some lines, as far as they fit. What does not fit is counted only once. */
export function linesWithin(lines: readonly string[], tokensMax: number, countTokens: CountTokens): Lines {
  const shown: string[] = [];
  let tokens = 0;
  for (const line of lines) {
    const more = lineTokens(line, countTokens);
    if (tokens + more > tokensMax) break;
    tokens += more;
    shown.push(line);
  }
  return { lines: shown, tokens, omitted: lines.length - shown.length };
}

/** Of a line with its end. */
export const lineTokens = (line: string, countTokens: CountTokens): number => countPieces(countTokens, line) + 1;

/** The beginning of a text that is too long; half a character at the cut is shown as what it is. */
export function clipped(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, chars).toWellFormed()}...`;
}

/** A line of JSON without the fields that say nothing. */
export function jsonLine(fields: Readonly<Record<string, Json | undefined>>): string {
  return JSON.stringify(Object.fromEntries(Object.entries(fields).filter(([, value]) => saysSomething(value))));
}

function saysSomething(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === '' || value === false) return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}

import { visibleText } from '#libs/visible';
import type { OutputText } from './output-text.js';
import type { CountTokens } from './tokens.js';

/** What is shown of a text: all of it in `head`, or its beginning and its end. */
export interface Excerpt {
  readonly head: string;
  readonly tail: string;
  /** Null when nothing is left out. */
  readonly omitted: { readonly chars: number; /** From 1: where to read on. */ readonly fromLine: number } | null;
  /** Of what is shown, at most. */
  readonly tokens: number;
}

/** No piece of a line that is counted at once is longer. */
const CHUNK_CHARS = 200;
/** So much of the room for a text goes to its beginning; the end, where errors and totals stand, has the rest. */
const HEAD_SHARE = 0.4;

/**
 * Shows a text within `tokensMax` tokens, counted as a fence shows it: whole, or head and tail, cut between lines where there are any. The work is bounded by
 * `tokensMax`, not by the length of the text: a text that cannot fit is not counted beyond what is shown.
 */
export function excerpt(
  text: Pick<OutputText, 'head' | 'tail' | 'gapChars'>,
  tokensMax: number,
  countTokens: CountTokens,
): Excerpt {
  const { head, tail, gapChars } = text;
  if (gapChars === 0) {
    const all = takeStart(head, tokensMax, countTokens);
    if (all.chars === head.length) return { head, tail: '', omitted: null, tokens: all.tokens };
  }
  const rest = gapChars === 0 ? head : tail;
  const start = takeStart(head, Math.floor(tokensMax * HEAD_SHARE), countTokens);
  const end = takeEnd(rest, Math.ceil(tokensMax * (1 - HEAD_SHARE)), countTokens);
  const tokens = start.tokens + end.tokens;
  const first = lineStart(head, start.chars);
  const last = Math.max(gapChars === 0 ? first : 0, lineEnd(rest, rest.length - end.chars));
  const chars = gapChars === 0 ? last - first : head.length - first + gapChars + last;
  if (chars === 0) return { head, tail: '', omitted: null, tokens };
  return {
    head: head.slice(0, first),
    tail: rest.slice(last),
    omitted: { chars, fromLine: linesIn(head, first) + 1 },
    tokens,
  };
}

interface Taken {
  readonly chars: number;
  readonly tokens: number;
}

/** How much of the beginning fits. */
function takeStart(text: string, tokensMax: number, countTokens: CountTokens): Taken {
  let taken: Taken = { chars: 0, tokens: 0 };
  while (taken.chars < text.length) {
    const end = chunkEnd(text, taken.chars);
    const tokens = taken.tokens + countTokens(visibleText(text.slice(taken.chars, end)));
    if (tokens > tokensMax) return taken;
    taken = { chars: end, tokens };
  }
  return taken;
}

/** How much of the end fits. */
function takeEnd(text: string, tokensMax: number, countTokens: CountTokens): Taken {
  let taken: Taken = { chars: 0, tokens: 0 };
  while (taken.chars < text.length) {
    const from = text.length - taken.chars;
    const start = chunkStart(text, from);
    const tokens = taken.tokens + countTokens(visibleText(text.slice(start, from)));
    if (tokens > tokensMax) return taken;
    taken = { chars: text.length - start, tokens };
  }
  return taken;
}

function chunkEnd(text: string, start: number): number {
  const reach = Math.min(text.length, start + CHUNK_CHARS);
  const newline = text.slice(start, reach).indexOf('\n');
  if (newline >= 0) return start + newline + 1;
  return isPairSplit(text, reach) ? reach - 1 : reach;
}

function chunkStart(text: string, end: number): number {
  const reach = Math.max(0, end - CHUNK_CHARS);
  const newline = text.slice(reach, end - 1).lastIndexOf('\n');
  if (newline >= 0) return reach + newline + 1;
  return isPairSplit(text, reach) ? reach + 1 : reach;
}

/** Between a high and a low surrogate there is no character. */
function isPairSplit(text: string, at: number): boolean {
  return at > 0 && at < text.length && (text.codePointAt(at - 1) ?? 0) > 0xffff;
}

/** Back to the beginning of the line, unless the first line alone is too long. */
function lineStart(text: string, at: number): number {
  if (at === text.length) return at;
  const newline = text.lastIndexOf('\n', at - 1);
  return newline < 0 || at === 0 ? at : newline + 1;
}

/** On to the beginning of the next line, unless the last line alone is too long. */
function lineEnd(text: string, at: number): number {
  if (at === 0 || text[at - 1] === '\n') return at;
  const newline = text.indexOf('\n', at);
  return newline < 0 || newline === text.length - 1 ? at : newline + 1;
}

function linesIn(text: string, end: number): number {
  let lines = 0;
  for (let at = text.indexOf('\n'); at >= 0 && at < end; at = text.indexOf('\n', at + 1)) lines++;
  return lines;
}

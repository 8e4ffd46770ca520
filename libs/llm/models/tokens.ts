import { createRequire } from 'node:module';
import type { ChatMessage } from '#proto';

/** The encoder takes quadratic time for a run without a break; in pieces of this size it takes milliseconds. */
const RUN_CHARS_MAX = 256;
/** Longer texts are counted in part and the rest in proportion. */
const COUNTED_CHARS_MAX = 262_144;
/** What surrounds a message, and an image of which nothing is known but that it is one. */
const MESSAGE_TOKENS = 4;
const IMAGE_TOKENS = 1_000;

interface Encoder {
  countTokens(text: string, options: { disallowedSpecial: Set<string> }): number;
  setMergeCacheSize(size: number): void;
}

let loaded: Encoder | undefined;

/** Its tables take a quarter of a second and tens of megabytes: only who counts pays for them, once. */
function encoder(): Encoder {
  if (loaded === undefined) {
    loaded = createRequire(import.meta.url)('gpt-tokenizer/encoding/o200k_base') as Encoder;
    loaded.setMergeCacheSize(20_000);
  }
  return loaded;
}

/** Tokens of a text by o200k: what many models count, and close enough for the others. Slightly above for runs without a break. */
export function countTokens(text: string): number {
  if (text.length <= COUNTED_CHARS_MAX) return countAll(text);
  const half = COUNTED_CHARS_MAX / 2;
  const counted = countAll(text.slice(0, half)) + countAll(text.slice(-half));
  return Math.ceil((counted * text.length) / COUNTED_CHARS_MAX);
}

/** Tokens of a prompt. */
export function countPromptTokens(messages: readonly ChatMessage[]): number {
  return messages.reduce((sum, { content }) => sum + MESSAGE_TOKENS + contentTokens(content), 0);
}

function contentTokens(content: ChatMessage['content']): number {
  if (typeof content === 'string') return countTokens(content);
  return content.reduce((sum, part) => sum + (part.type === 'text' ? countTokens(part.text) : IMAGE_TOKENS), 0);
}

/** Line by line, and runs without a break in parts. */
function countAll(text: string): number {
  let sum = 0;
  let from = 0;
  let runLength = 0;
  let wasSpace = false;
  for (let at = 0; at < text.length; at++) {
    const isSpace = isSpaceAt(text, at);
    runLength = isSpace === wasSpace ? runLength + 1 : 1;
    wasSpace = isSpace;
    if (runLength <= RUN_CHARS_MAX && !endsLine(text, at, isSpace)) continue;
    if (at > from) sum += countLine(text.slice(from, at));
    from = at;
    runLength = 1;
  }
  return from < text.length ? sum + countLine(text.slice(from)) : sum;
}

/** Control characters count as space: a boundary less is never wrong. */
function isSpaceAt(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code <= SPACE || (code > LAST_OF_ASCII && /\s/u.test(text.charAt(at)));
}

/** Here no token goes across: after a line end, unless more space follows, or what punctuation takes along. */
function endsLine(text: string, at: number, isSpace: boolean): boolean {
  return !isSpace && at > 0 && text.charCodeAt(at - 1) === LINE_END && text.charCodeAt(at) !== SLASH;
}

const SPACE = 0x20;
const LAST_OF_ASCII = 0x7f;
const LINE_END = 0x0a;
const SLASH = 0x2f;

/** Counts of lines. A prompt is made of what was in the one before it and a little more; to count that again is most of the work. */
const lines = new Map<string, number>();
let lineChars = 0;
const LINE_CHARS_MAX = 4_096;
const LINES_CHARS_MAX = 1024 * 1024;

function countLine(line: string): number {
  if (line.length > LINE_CHARS_MAX) return encode(line);
  const known = lines.get(line);
  if (known !== undefined) return known;
  const tokens = encode(line);
  if (lineChars + line.length > LINES_CHARS_MAX) {
    lines.clear();
    lineChars = 0;
  }
  // A copy: a piece of a text keeps the whole text in memory.
  lines.set(Buffer.from(line, 'utf16le').toString('utf16le'), tokens);
  lineChars += line.length;
  return tokens;
}

/** What looks like a control token in a text is text. */
const NOTHING_SPECIAL = new Set<string>();
const encode = (text: string): number => encoder().countTokens(text, { disallowedSpecial: NOTHING_SPECIAL });

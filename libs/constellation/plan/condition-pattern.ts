import { RE2JS } from 're2js';
import { LIMITS } from '#proto';

/** Patterns that were compiled lately: a condition is checked when it comes in, and judged over many values. */
const COMPILED_MAX = 200;
const compiled = new Map<string, RE2JS>();

/** A regular expression of RE2, which takes time in proportion to the text. Throws an Error with one sentence when it is none. */
export function patternOf(source: string): RE2JS {
  const known = compiled.get(source);
  if (known !== undefined) return known;
  const wrong = tooLarge(source);
  if (wrong !== undefined) throw new Error(wrong);
  const pattern = compile(source);
  if (pattern.programSize() > LIMITS.patternInstructionsMax) throw new Error(TOO_LARGE);
  if (compiled.size >= COMPILED_MAX) compiled.delete(compiled.keys().next().value ?? '');
  compiled.set(source, pattern);
  return pattern;
}

function compile(source: string): RE2JS {
  try {
    return RE2JS.compile(source);
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^error parsing regexp: /u, '') : String(error);
    throw new Error(`the pattern is no regular expression of RE2: ${why}`, { cause: error });
  }
}

const TOO_LARGE = `the pattern repeats too much: it may come to ${LIMITS.patternInstructionsMax} instructions`;

/** Compiling takes time for every repetition: what it would come to is counted before. */
function tooLarge(source: string): string | undefined {
  if (source.length > LIMITS.patternCharsMax) return `the pattern is longer than ${LIMITS.patternCharsMax} characters`;
  return instructionsOf(source) > LIMITS.patternInstructionsMax ? TOO_LARGE : undefined;
}

const PIECE =
  /\\(?:[pP](?:\{[^}]*\}|.)|x\{[^}]*\}|Q[\s\S]*?(?:\\E|$)|[\s\S])|\[\^?\]?(?:\\[\s\S]|\[:\^?\w+:\]|[^\]\\])*\]|\{(?<least>\d+)(?:,(?<most>\d*))?\}|[\s\S]/gu;

/** Roughly, and rather too many: what is repeated counts as often as it may be. */
export function instructionsOf(source: string): number {
  const groups: number[] = [];
  let [sum, last] = [0, 0];
  for (const { 0: piece, groups: counts } of source.matchAll(PIECE)) {
    const { least, most } = counts ?? {};
    if (least !== undefined) {
      const times = Math.max(1, Number(least), Number(most ?? 0));
      sum += last * (times - 1);
      last *= times;
    } else if (piece === '(') {
      groups.push(sum);
      [sum, last] = [0, 0];
    } else if (piece === ')') {
      last = sum + 2;
      sum = (groups.pop() ?? 0) + last;
    } else {
      last = piece.length > 2 && piece.startsWith('\\Q') ? piece.length : 1;
      sum += last;
    }
  }
  return groups.reduce((total, outer) => total + outer, sum);
}

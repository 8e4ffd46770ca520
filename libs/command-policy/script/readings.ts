import { type StandardInput, type Redirect, unknownWord, type Word } from '../words/index.js';

const READINGS_MAX = 16;

/** What a command reads that is redirected. */
export function inputOf(redirects: readonly Redirect[]): StandardInput | undefined {
  const read = redirects.findLast(({ operator }) => operator === '<' || operator === '<&');
  return read === undefined ? undefined : { kind: read.target.substitution === undefined ? 'file' : 'unknown' };
}

/** Every reading of all words together, unless there are too many: then nothing but their number is known. */
export function product(words: readonly (readonly (readonly Word[])[])[]): readonly (readonly Word[])[] {
  let all: readonly (readonly Word[])[] = [[]];
  for (const readings of words) {
    if (all.length * readings.length > READINGS_MAX) return [words.map(() => unknownWord())];
    all = all.flatMap((start) => readings.map((reading) => [...start, ...reading]));
  }
  return all;
}

import type { Issue } from '#proto';
import { wordsIn, type TextWord } from './words.js';

/** More words than anybody types. */
const WORDS_MAX = 32;
/** The index has to look at every word that begins so. */
const BEGINNING_UNITS_MIN = 2;

/** What somebody looks for at one place: a word, or words that stand one behind the other. */
export interface Term {
  readonly words: readonly string[];
  /** What stands between two of them; null: anything that is no word, of which there may be nothing at all. */
  readonly gaps: readonly (string | null)[];
  /** The last one only begins so. */
  readonly isOpen: boolean;
}

/** All that is `wanted` is there, and nothing that is `unwanted`. */
export interface Alternative {
  readonly wanted: readonly Term[];
  readonly unwanted: readonly Term[];
}

export type SearchWords =
  { readonly ok: true; readonly alternatives: readonly Alternative[] } | { readonly ok: false; readonly issue: Issue };

const PIECE = /"([^"]*)"(\*?)|([^\s"]+)/gu;
const OR = 'OR';
const NOT = 'NOT';

/**
 * Reads what somebody types: `disk full` (both), `"disk full"` (one behind the other), `nginx.conf` (just so), `oom*`, `A OR B`, `NOT x`. A minus
 * is no operator, for options of commands begin with one. Every text has a meaning, unless there is no word in it, or too many.
 */
export function parseSearchWords(text: string): SearchWords {
  const alternatives: { wanted: Term[]; unwanted: Term[] }[] = [{ wanted: [], unwanted: [] }];
  let isNot = false;
  for (const [piece, quoted, star = '', plain = ''] of text.matchAll(PIECE)) {
    if (piece === OR) {
      alternatives.push({ wanted: [], unwanted: [] });
      isNot = false;
    } else if (piece === NOT) {
      isNot = true;
    } else {
      const term = termOf(quoted ?? plain, star === '*' || plain.endsWith('*'));
      if (term === undefined) continue;
      alternatives.at(-1)?.[isNot ? 'unwanted' : 'wanted'].push(term);
      isNot = false;
    }
  }
  const said = alternatives.filter(({ wanted, unwanted }) => wanted.length + unwanted.length > 0);
  const problem = problemOf(said);
  return problem === undefined
    ? { ok: true, alternatives: said }
    : { ok: false, issue: { path: 'words', message: problem } };
}

function termOf(text: string, isOpen: boolean): Term | undefined {
  const words = wordsIn(text);
  if (words.length === 0) return undefined;
  const gaps = words.slice(1).map(({ from }, index) => gapOf(text.slice(words[index]?.to, from)));
  return { words: words.map(({ word }) => word), gaps, isOpen };
}

const gapOf = (between: string): string | null => (/\s/u.test(between) ? null : between);

function problemOf(said: readonly Alternative[]): string | undefined {
  if (said.length === 0) return 'must have a letter or a digit: nothing else is looked for';
  const terms = said.flatMap(({ wanted, unwanted }) => [...wanted, ...unwanted]);
  const count = terms.reduce((sum, { words }) => sum + words.length, 0);
  if (count > WORDS_MAX) return `must have at most ${WORDS_MAX} words; it has ${count}`;
  const short = terms.find(({ words, isOpen }) => isOpen && (words.at(-1)?.length ?? 0) < BEGINNING_UNITS_MIN);
  return short && `must say at least ${BEGINNING_UNITS_MIN} characters before a *`;
}

/** A place in a text where a term stands. */
export interface Hit {
  readonly from: number;
  readonly to: number;
}

/** The places of a term in a text of these words, in order, none within another. */
export function hitsOf(term: Term, text: string, words: readonly TextWord[]): Hit[] {
  const hits: Hit[] = [];
  for (let at = 0; at + term.words.length <= words.length; at++) {
    if (!standsAt(term, text, words, at)) continue;
    const last = at + term.words.length - 1;
    hits.push({ from: words[at]?.from ?? 0, to: words[last]?.to ?? 0 });
    at = last;
  }
  return hits;
}

function standsAt(
  { words: wanted, gaps, isOpen }: Term,
  text: string,
  words: readonly TextWord[],
  at: number,
): boolean {
  return wanted.every((word, index) => {
    const found = words[at + index];
    if (found === undefined) return false;
    const isSame = isOpen && index === wanted.length - 1 ? found.word.startsWith(word) : found.word === word;
    const gap = index === 0 ? null : gaps[index - 1];
    return isSame && (gap === null || text.slice(words[at + index - 1]?.to, found.from) === gap);
  });
}

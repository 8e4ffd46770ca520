import type { Alternative, Term } from './search-words.js';
import { wordsIn } from './words.js';

/** Fields of a command that are looked for: each value is a lexeme of its own, which no word of a text can be. */
export type SearchField = 'device' | 'by' | 'exit' | 'rule' | 'state' | 'run' | 'task';

/** By the index alone it is as cheap to ask for a field as for a word, and a rare one makes a common one cheap. */
export const fieldLexeme = (field: SearchField, value: string | number): string => `=${field}:${value}`;

/**
 * Places per segment of the finest level, as a power of two, and how many segments of one level are one of the next. A row has the lexeme
 * of its segment on each level: so the index finds the newest rows of a common word without looking at the others.
 */
const PLACES_BITS = 24;
const LEVEL_BITS = 4;
const LEVELS = 3;
export const SEGMENT_PLACES = 2 ** PLACES_BITS;

const segmentLexeme = (level: number, number: number): string => `#${level}:${number}`;

/** The segments of a place. */
export function segmentLexemes(place: number): string[] {
  return Array.from({ length: LEVELS }, (_, level) =>
    segmentLexeme(level, Math.floor(place / 2 ** (PLACES_BITS + LEVEL_BITS * level))),
  );
}

/** The fewest segments that are together those from `from` to `to` of the finest level, the last not included. */
export function segmentCover(from: number, to: number): string[] {
  const cover: string[] = [];
  for (let at = from; at < to;) {
    let level = LEVELS - 1;
    while (level > 0 && (at % 2 ** (LEVEL_BITS * level) !== 0 || at + 2 ** (LEVEL_BITS * level) > to)) level--;
    const size = 2 ** (LEVEL_BITS * level);
    cover.push(segmentLexeme(level, at / size));
    at += size;
  }
  return cover;
}

/** Half of what PostgreSQL takes into one vector. */
const WORDS_BYTES_MAX = 512 * 1024;

/** The words of a command, as many as fit into its row. */
export class WordSet {
  readonly #words = new Set<string>();
  #bytes = 0;
  #isFull = false;

  get words(): ReadonlySet<string> {
    return this.#words;
  }

  /** There was a word for which there was no room. */
  get isFull(): boolean {
    return this.#isFull;
  }

  add(text: string): void {
    for (const { word } of wordsIn(text)) {
      if (this.#words.has(word)) continue;
      this.#bytes += Buffer.byteLength(word);
      if (this.#bytes > WORDS_BYTES_MAX) {
        this.#isFull = true;
        return;
      }
      this.#words.add(word);
    }
  }
}

/** What a tsvector is read from. */
export function vectorText(lexemes: Iterable<string>): string {
  return [...lexemes].map(quoted).join(' ');
}

/** What a tsquery is read from: of the alternatives one, and of each group one lexeme. */
export function queryText(alternatives: readonly Alternative[], groups: readonly (readonly string[])[]): string {
  const words = alternatives.map(({ wanted, unwanted }) =>
    all([...wanted.flatMap(wantedText), ...unwanted.flatMap(unwantedText)]),
  );
  // An alternative of which the index knows nothing is all rows.
  const some = words.every((text) => text !== '') ? any(words) : '';
  return all([some, ...groups.map((lexemes) => any(lexemes.map(quoted)))].filter((text) => text !== ''));
}

function wantedText({ words, isOpen }: Term): string[] {
  return words.map((word, index) => quoted(word) + (isOpen && index === words.length - 1 ? ':*' : ''));
}

/** Where the words are, but not one behind the other, the row is wanted: the index cannot tell. */
function unwantedText(term: Term): string[] {
  return term.words.length > 1 ? [] : wantedText(term).map((text) => `!${text}`);
}

const all = (texts: readonly string[]): string => texts.join(' & ');
const any = (texts: readonly string[]): string =>
  texts.length === 0 ? '' : `(${texts.map((text) => `(${text})`).join(' | ')})`;

function quoted(lexeme: string): string {
  return `'${lexeme.replaceAll(/['\\]/gu, '$&$&')}'`;
}

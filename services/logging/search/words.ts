/** A longer one is known by its beginning: nobody types the rest, and an index entry has a bound. */
const WORD_UNITS_MAX = 64;

/**
 * Letters, digits and the marks on them make a word; everything else stands between words, so that a path, an option or an address is
 * found by each of its parts. Scripts that write no spaces have words of one character.
 */
const WORD =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]|[[\p{L}\p{N}\p{M}]--[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]]+/gv;
/** The same where there is nothing beyond ASCII, as in most of what commands print: in half of the time. */
const ASCII_WORD = /[0-9A-Za-z]+/gu;
const BEYOND_ASCII = /[^\0-\x7f]/u;

/** A word, and where it stands in its text, in UTF-16 units. */
export interface TextWord {
  readonly word: string;
  readonly from: number;
  readonly to: number;
}

/** The words of a text in order. Large and small letters are the same, and so are the ways to write one character. */
export function wordsIn(text: string): TextWord[] {
  return Array.from(text.matchAll(BEYOND_ASCII.test(text) ? WORD : ASCII_WORD), ({ 0: found, index }) => ({
    word: folded(found),
    from: index,
    to: index + found.length,
  }));
}

function folded(found: string): string {
  const word = BEYOND_ASCII.test(found) ? foldedBeyond(found) : found.toLowerCase();
  return word.length <= WORD_UNITS_MAX ? word : word.slice(0, WORD_UNITS_MAX).toWellFormed();
}

/** By way of the large letters: of several small ones that have the same large one there is one left, and ß is ss. */
const foldedBeyond = (found: string): string => found.normalize('NFC').toUpperCase().toLowerCase().normalize('NFC');

import { visibleText } from '#libs/visible';

/** How many tokens the model sees in a text. Must take any text, also the names of its own special tokens. */
export type CountTokens = (text: string) => number;

/** Tokenizers take quadratic time for a very long word: no piece that is counted at once is longer. */
const PIECE_CHARS = 1_000;

/**
 * Counts a text, as a fence shows it, piece by piece, so that the work is linear in its length whatever stands in it. Parted words make the sum a
 * little larger than the tokens of the whole, never noticeably smaller.
 */
export function countPieces(countTokens: CountTokens, text: string): number {
  if (text.length <= PIECE_CHARS) return countTokens(visibleText(text));
  let tokens = 0;
  for (let start = 0; start < text.length;) {
    const end = pieceEnd(text, start);
    tokens += countTokens(visibleText(text.slice(start, end)));
    start = end;
  }
  return tokens;
}

/** After the last line end within reach, where tokens part anyway; anywhere in a line that is too long. */
function pieceEnd(text: string, start: number): number {
  const reach = start + PIECE_CHARS;
  if (reach >= text.length) return text.length;
  const lineEnd = text.lastIndexOf('\n', reach - 1);
  return lineEnd > start ? lineEnd + 1 : reach;
}

import { describe, expect, it } from '@jest/globals';
import { TextPieces } from './text-pieces.js';
import { wordsIn } from './words.js';

/** The pieces of a text whose bytes come in chunks of that size. */
function piecesOf(text: string, chunk: number): string[] {
  const pieces = new TextPieces();
  const bytes = Buffer.from(text);
  const full: string[] = [];
  for (let from = 0; from < bytes.length; from += chunk) full.push(...pieces.push(bytes.subarray(from, from + chunk)));
  return [...full, ...pieces.end()];
}

const foundWords = (text: string): string[] => wordsIn(text).map(({ word }) => word);

describe('the pieces of a text', () => {
  const words = Array.from({ length: 40_000 }, (_, at) => `wört${at}`);

  it.each([1_000, 999_983])('have all words and no half one, however the bytes come: %d at once', (chunk) => {
    const pieces = piecesOf(words.join(' '), chunk);
    expect(pieces.length).toBeGreaterThan(1);
    expect(new Set(pieces.flatMap(foundWords))).toEqual(new Set(words));
  });

  it('have any few words that stand one behind the other together in one of them', () => {
    const together = new Set(
      piecesOf(words.join('\n'), 4_096).flatMap((piece) => {
        const found = foundWords(piece);
        return found.slice(2).map((word, at) => `${found[at]} ${found[at + 1]} ${word}`);
      }),
    );
    for (const [at, word] of words.slice(2).entries()) {
      expect(together.has(`${words[at]} ${words[at + 1]} ${word}`)).toBe(true);
    }
  });

  it('are cut somewhere in what has no space at all', () =>
    expect(piecesOf('a'.repeat(300_000), 7_000).length).toBeGreaterThan(2));

  it('are none of nothing', () => expect(piecesOf('', 1)).toEqual([]));
});

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { PendingOutput, type PrintedPiece } from './output-piece.js';

/** Any character, halves of characters included. (The unit `binary` of fast-check takes two seconds to be made.) */
const anyCharacter = fc.nat(0x10_ff_ff).map((code) => String.fromCodePoint(code));

const SEED = 20_261_121;
const BYTES_MAX = 16;
const DAMAGED = '\ufffd';

const pending = (...chunks: (string | Buffer)[]): PendingOutput => {
  const output = new PendingOutput(BYTES_MAX);
  for (const chunk of chunks) output.push(Buffer.from(chunk));
  return output;
};

describe('output that was not told yet', () => {
  it('is told once, in the order in which it was written', () => {
    const output = pending('one ', 'two ');
    expect(output.take(false)).toEqual({ offset: 0, text: 'one two ' });
    expect(output.take(false)).toBeUndefined();
    output.push(Buffer.from('three'));
    expect(output.take(true)).toEqual({ offset: 8, text: 'three' });
  });

  it('that is too much is left out, and the next piece says where it begins', () => {
    const output = pending('x'.repeat(20), 'never told');
    expect(output.take(false)).toEqual({ offset: 0, text: 'x'.repeat(BYTES_MAX) });
    output.push(Buffer.from('after'));
    expect(output.take(false)).toEqual({ offset: 30, text: 'after' });
  });

  it('keeps half a character back until it has the other half', () => {
    const euro = Buffer.from('€');
    const output = pending('a', euro.subarray(0, 2));
    expect(output.take(false)).toEqual({ offset: 0, text: 'a' });
    expect(output.take(false)).toBeUndefined();
    output.push(euro.subarray(2));
    expect(output.take(false)).toEqual({ offset: 1, text: '€' });
  });

  it('does not begin in the middle of a character after a gap', () => {
    const euro = Buffer.from('€');
    const output = pending('x'.repeat(BYTES_MAX), euro.subarray(0, 1));
    expect(output.take(false)).toEqual({ offset: 0, text: 'x'.repeat(BYTES_MAX) });
    output.push(euro.subarray(1, 2));
    output.push(Buffer.concat([euro.subarray(2), Buffer.from('b')]));
    expect(output.take(false)).toEqual({ offset: BYTES_MAX + 3, text: 'b' });
  });

  it('shows at its end that it broke off', () => {
    const output = pending('a', Buffer.from('€').subarray(0, 2));
    expect(output.take(true)).toEqual({ offset: 0, text: 'a\ufffd' });
  });

  it('whatever is written, and however it is cut: every piece is what stands there, whole, in order, and bounded', () =>
    fc.assert(
      fc.property(
        fc.string({ unit: anyCharacter, maxLength: 80 }),
        fc.array(fc.tuple(fc.integer({ min: 1, max: 12 }), fc.boolean()), { maxLength: 60 }),
        (text, cuts) => {
          // A character of its own that means damage would hide one that was made here.
          const bytes = Buffer.from(text.toWellFormed().replaceAll(DAMAGED, ''));
          const output = new PendingOutput(BYTES_MAX);
          const pieces: (PrintedPiece | undefined)[] = [];
          let at = 0;
          for (const [length, told] of cuts) {
            output.push(bytes.subarray(at, (at += length)));
            if (told) pieces.push(output.take(false));
          }
          output.push(bytes.subarray(at));
          pieces.push(output.take(true));
          let end = 0;
          for (const piece of pieces) {
            if (piece === undefined) continue;
            const length = Buffer.byteLength(piece.text);
            expect(piece.offset).toBeGreaterThanOrEqual(end);
            expect(length).toBeLessThanOrEqual(BYTES_MAX);
            expect(bytes.subarray(piece.offset, piece.offset + length).toString('utf8')).toBe(piece.text);
            expect(piece.text).not.toContain(DAMAGED);
            end = piece.offset + length;
          }
          if (bytes.length <= BYTES_MAX)
            expect(pieces.map((piece) => piece?.text ?? '').join('')).toBe(bytes.toString());
        },
      ),
      { seed: SEED, numRuns: 2_000 },
    ));
});

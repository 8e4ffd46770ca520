import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { clearingPieces, typedPieces } from './typing.js';

/** What Android makes of the words of one command: keys, and of `input text` every `%s` a blank. */
function typedBy(words: readonly string[]): string {
  const [program, kind, ...rest] = words;
  if (program === 'input' && kind === 'text') return (rest[0] ?? '').replaceAll('%s', ' ');
  if (program === 'input' && kind === 'keyevent') return rest[0] === 'KEYCODE_ENTER' ? '\n' : '\t';
  return Buffer.from(words.at(-1) ?? '', 'base64').toString('utf8');
}

const typed = (pieces: readonly (readonly string[])[]): string => pieces.map(typedBy).join('');

describe('a text', () => {
  it('of a plain keyboard arrives as it is', () => {
    const unit = fc.oneof(fc.constantFrom('%', 's', '\n', '\t', ' ', "'"), fc.string({ minLength: 1, maxLength: 1 }));
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 2_000 }), (text) =>
        expect(typed(typedPieces(text, 'plain'))).toBe(text),
      ),
    );
  });

  it('that is the name of what every object has is a text', () => {
    expect(typedPieces('valueOf', 'plain')).toEqual([['input', 'text', 'valueOf']]);
  });

  it('of any characters arrives by an input method that takes them', () => {
    const unit = fc.oneof(fc.constantFrom('ü', '€', '漢', '😀', '%', 's', "'"), fc.constant('\n'));
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 1_200 }), (text) =>
        expect(typed(typedPieces(text, 'any-text'))).toBe(text),
      ),
    );
  });

  it('is refused as a whole when a plain keyboard has no key for a part of it', () => {
    expect(() => typedPieces('Grüße', 'plain')).toThrow('"ü" (U+00FC)');
    expect(() => typedPieces('a😀', 'plain')).toThrow('U+1F600');
  });

  it.each([
    ['a control character', '\u0007', 'U+0007'],
    ['a delete', '\u007f', 'U+007F'],
    ['half a character', '\ud83d', 'U+D83D'],
  ])('with %s is refused whatever the keyboard is', (_, text, code) => {
    expect(() => typedPieces(text, 'plain')).toThrow(code);
    expect(() => typedPieces(text, 'any-text')).toThrow(code);
  });

  it('has an end', () => {
    expect(() => typedPieces('x'.repeat(10_001), 'plain')).toThrow('at most 10000 characters');
  });

  it('that is replaced is deleted from its end', () => {
    const keys = clearingPieces(120).flatMap(([, , ...some]) => some);
    expect([keys[0], keys.filter((key) => key === 'KEYCODE_DEL').length]).toEqual(['KEYCODE_MOVE_END', 120]);
  });
});

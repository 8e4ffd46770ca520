import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { visibleClip, visibleLine, visibleLines } from './visible.js';

/** Any character, halves of characters included. (The unit `binary` of fast-check takes two seconds to be made.) */
const anyCharacter = fc.nat(0x10_ff_ff).map((code) => String.fromCodePoint(code));

describe('text that a person decides about', () => {
  it.each([
    ['ls -la /srv', 'ls -la /srv'],
    ['Größe: 3 €, 文件 😀', 'Größe: 3 €, 文件 😀'],
    ['echo \u001B[2K\rrm -rf /srv', String.raw`echo \u001b[2K\rrm -rf /srv`],
    ['rm\u200B -rf\u202E /', String.raw`rm\u200b -rf\u202e /`],
    ['a\tb\u0000\u00A0c\uFEFF', String.raw`a\tb\u0000\u00a0c\ufeff`],
    ['half \ud83d pair', String.raw`half \ud83d pair`],
    ['a\u3164b\u2028c', String.raw`a\u3164b\u2028c`],
    ['tag \u{E0041}', String.raw`tag \u{e0041}`],
  ])('shows all of %j', (text, shown) => expect(visibleLine(text)).toBe(shown));

  it('keeps line breaks where they are wanted, and counts nothing as one line that is several', () => {
    expect(visibleLines('cat <<E\nrm\u200B\nE')).toEqual(['cat <<E', String.raw`rm\u200b`, 'E']);
    expect(visibleLine('a\nb')).toBe(String.raw`a\nb`);
    expect(visibleClip('a\nbcdef', 5)).toBe(String.raw`a\nb…`);
  });

  it('tells different texts apart unless one already spells the escape', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), fc.string({ unit: anyCharacter }), (left, right) => {
        if (left === right || left.includes('\\') || right.includes('\\')) return;
        expect(visibleLine(left)).not.toBe(visibleLine(right));
      }),
      { seed: 4, numRuns: 300 },
    );
  });
});

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { unseenIn, visibleLine, visibleText, withoutTerminalSequences } from './index.js';

/** Any character, halves of characters included. (The unit `binary` of fast-check takes two seconds to be made.) */
const anyCharacter = fc.nat(0x10_ff_ff).map((code) => String.fromCodePoint(code));
/** Written once more, so that a hole in the one list is not a hole in the other. */
const HIDDEN = [
  /^(?![\n\t])\p{C}$/u,
  /^[\p{Zl}\p{Zp}]$/u,
  /^\p{Variation_Selector}$/u,
  /^\p{Default_Ignorable_Code_Point}$/u,
  /^\p{Bidi_Control}$/u,
  /^\p{Join_Control}$/u,
  /^[\u{e0000}-\u{e0fff}]$/u,
];

/** Every code point there is, in pieces of a thousand, each character between two letters: a half stays a half. */
function* everything(): Generator<readonly string[]> {
  for (let start = 0; start <= 0x10_ff_ff; start += 1_000) {
    const count = Math.min(1_000, 0x10_ff_ff + 1 - start);
    yield Array.from({ length: count }, (_, index) => String.fromCodePoint(start + index));
  }
}

describe('text that is shown', () => {
  it('has none of the characters that nobody sees, of all that there are, and all of the others', () => {
    const wrong: string[] = [];
    for (const characters of everything()) {
      const shown = visibleText(characters.join('|x|')).split('|x|');
      for (const [index, character] of characters.entries()) {
        const isHidden = HIDDEN.some((pattern) => pattern.test(character));
        const isEscape = /^\\(?:r|u[0-9a-f]{4}|ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2})$/u.test(shown[index] ?? '');
        if (character === '|' || (isHidden ? isEscape : shown[index] === character)) continue;
        wrong.push(character.codePointAt(0)?.toString(16) ?? '');
      }
    }
    expect(wrong).toEqual([]);
  });

  it.each([
    ['a\n\tb', 'a\n\tb'],
    ['Größe: 3 €, 文件\u3000😀', 'Größe: 3 €, 文件\u3000😀'],
    ['one\r\ntwo\rthree', 'one\\r\ntwo\\rthree'],
    ['\u001B[31mred', String.raw`\u001b[31mred`],
    ['if admin\u202E\u2066 // check\u2069\u2066', String.raw`if admin\u202e\u2066 // check\u2069\u2066`],
    ['ig\u200Bno\u200D\u2060re', String.raw`ig\u200bno\u200d\u2060re`],
    ['\u{E0001}\u{E0072}\u{E006D}', String.raw`\udb40\udc01\udb40\udc72\udb40\udc6d`],
    ['😀\uFE0F\u{E0100}👩\u200D💻', String.raw`😀\ufe0f\udb40\udd00👩\u200d💻`],
    ['half \uD83D pair \uDE00', String.raw`half \ud83d pair \ude00`],
    ['\u2028\u2029\u0085\uE000\uFFFF\u3164', String.raw`\u2028\u2029\u0085\ue000\uffff\u3164`],
  ])('shows %j', (text, shown) => expect(visibleText(text)).toBe(shown));

  it('can be shown once more, and its escapes are counted', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => {
        const shown = visibleText(text);
        expect(visibleText(shown)).toBe(shown);
        expect(unseenIn(shown)).toBe(0);
        expect(unseenIn(text) === 0).toBe(shown === text);
        expect(shown.isWellFormed()).toBe(true);
        const json = JSON.stringify({ [text]: [text] });
        expect(JSON.parse(visibleText(json))).toEqual(JSON.parse(json));
      }),
      { seed: 16, numRuns: 300 },
    );
    expect(unseenIn('a\u200B\u202Eb\n\uD800')).toBe(3);
  });
});

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
    ['a\nb', String.raw`a\nb`],
  ])('shows all of %j', (text, shown) => expect(visibleLine(text)).toBe(shown));

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

describe('what a terminal would obey', () => {
  it.each([
    ['\u001B[31mred\u001B[0m\u001B[2J\u001B[1;1Hhome', 'redhome'],
    ['a\u001B]0;title\u0007b\u001B]8;;http://evil\u001B\\link\u001B]8;;\u001B\\c\u009B31md', 'ablinkcd'],
    ['a\u001B]0;never closed\nrm -rf /\u0007', 'a\u001B]0;never closed\nrm -rf /\u0007'],
    ['a\u001BPnever closed', 'a\u001BPnever closed'],
  ])('goes from %j where it is whole, and hides no line', (text, left) =>
    expect(withoutTerminalSequences(text)).toBe(left),
  );
});

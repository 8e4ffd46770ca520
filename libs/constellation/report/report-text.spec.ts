import { describe, expect, it } from '@jest/globals';
import { cell, clean, cut, duration, fence, oneLine, span, table } from './report-text.js';

const ESC = '\u001b';

describe('clean', () => {
  it.each([
    ['colours', `${ESC}[31mred${ESC}[0m ${ESC}[1;38;5;9mx`, 'red x'],
    ['a window title', `${ESC}]0;owned\u0007text`, 'text'],
    ['a link', `${ESC}]8;;http://evil.example${ESC}\\click${ESC}]8;;${ESC}\\`, 'click'],
    ['the clipboard', `a${ESC}]52;c;aGFjaw==\u0007b`, 'ab'],
    ['one-byte introducers', `a\u009b31mb\u009d0;t\u009cc`, 'abc'],
    ['cursor movement and erasing', `good${ESC}[2K${ESC}[1Gevil`, 'goodevil'],
    ['device control', `a${ESC}Pq#0${ESC}\\b${ESC}cc`, String.raw`ab\u001bcc`],
    ['sequences made by taking out others', `${ESC}${ESC}]0;x\u0007[31mtext`, String.raw`\u001b[31mtext`],
    ['control characters', 'a\u0000b\u0008c\u007fd\u0085e', 'a\\u0000b\\u0008c\\u007fd\ne'],
    ['direction overrides and isolates', 'a\u202eb\u2066c\u200fd', String.raw`a\u202eb\u2066c\u200fd`],
    ['what cannot be seen', 'a\u200bb\u{e0041}c\ufeffd\u00ade', String.raw`a\u200bb\udb40\udc41c\ufeffd\u00ade`],
    ['line ends of all kinds', 'a\r\nb\rc\u2028d', 'a\nb\nc\nd'],
    ['halves of characters', 'a\ud800b', String.raw`a\ud800b`],
  ])('makes harmless: %s', (_, text, cleaned) => expect(clean(text)).toBe(cleaned));

  it('hides nothing behind a sequence that is never closed', () => {
    expect(clean(`${ESC}]0;all the rest`)).toBe(String.raw`\u001b]0;all the rest`);
    expect(clean(`${ESC}]0;one line\nthe next\u0007`)).toBe('\\u001b]0;one line\nthe next\\u0007');
  });

  it('keeps what people write', () => expect(clean('Grüße, 你好 👩 \tx\n')).toBe('Grüße, 你好 👩 \tx\n'));

  it.each([`${ESC}]`, `${ESC}[`, '\u009d', '\u009b', '`', `${ESC} `])('is linear in runs of %j', (part) => {
    // Quadratic work on this would take minutes, and the test would time out.
    expect(clean(part.repeat(200_000)).length).toBeLessThanOrEqual(6 * 200_000 * part.length);
  });
});

describe('span', () => {
  it.each([
    ['plain', '`plain`'],
    ['a `b` c', '``a `b` c``'],
    ['``', '``` `` ```'],
    ['a\n\n# b', '`a # b`'],
    ['', '(empty)'],
    [' \n ', '(empty)'],
    ['<img src=x>', '`<img src=x>`'],
  ])('shows %j as %s', (text, expected) => expect(span(text)).toBe(expected));

  it('has a limit', () => expect(span('x'.repeat(10_000)).length).toBeLessThan(300));
});

describe('cell', () => {
  it.each(['a|b', 'a\\|b', 'a\\\\|b', '|', '\\|', '||', 'x\\'])('keeps %j in its cell', (text) => {
    // As GFM splits a row: a pipe ends the cell unless an odd backslash stands directly before it.
    const row = table(['h', 'i'], [[cell(text), 'next']]).split('\n')[2] ?? '';
    const cells = row.slice(1, -1).split(/(?<!\\)\|/u);
    expect(cells).toHaveLength(2);
    expect(row).not.toMatch(/\\\\\|/u);
  });
});

describe('fence', () => {
  it.each(['plain', '```', '````\ntext', '~~~', '`'.repeat(100), '```js\ncode\n```\n# title'])(
    'cannot be closed by %j',
    (text) => {
      const lines = fence(text).split('\n');
      const ticks = lines[0] ?? '';
      const closing = lines.findIndex(
        (line, index) => index > 0 && new RegExp(`^ {0,3}\`{${ticks.length},} *$`, 'u').test(line),
      );
      expect(closing).toBe(lines.length - 1);
    },
  );
});

describe('cut, oneLine, duration', () => {
  it('keeps head and tail and says what is missing', () => {
    expect(cut('abc', 3)).toBe('abc');
    expect(cut('abcdefghi', 3)).toBe('ab … 6 characters left out … i');
    expect(cut('\u{1f600}'.repeat(5), 3).isWellFormed()).toBe(true);
  });
  it('makes one line', () => expect(oneLine(' a \n\t b ')).toBe('a b'));
  it.each([
    [0, '0 ms'],
    [999, '999 ms'],
    [12_340, '12.3 s'],
    [250_000, '4 min 10 s'],
    [7_500_000, '2 h 5 min'],
  ])('says %i ms as %s', (ms, text) => expect(duration(ms)).toBe(text));
});

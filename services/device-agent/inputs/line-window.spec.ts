import { describe, expect, it } from '@jest/globals';
import { LineWindow, type Wanted } from './line-window.js';

const bytes = new TextEncoder();

function read(text: string, wanted: Partial<Wanted>, pieceBytes = 7) {
  const window = new LineWindow({ fromLine: 1, lines: 1_000, ...wanted });
  const all = bytes.encode(text);
  for (let at = 0; at < all.length; at += pieceBytes) window.push(all.subarray(at, at + pieceBytes));
  return window.end();
}
const numbers = Array.from({ length: 1_000 }, (_, index) => `line ${index + 1}`).join('\n');

describe('a window on a text', () => {
  it('has the lines that are wanted and counts all, whatever the pieces', () => {
    for (const pieceBytes of [1, 7, 4_096]) {
      for (const end of ['', '\n']) {
        const seen = read(numbers + end, { fromLine: 998, lines: 2 }, pieceBytes);
        expect(seen).toEqual({ text: 'line 998\nline 999', totalLines: 1_000 });
      }
    }
  });

  it('counts those alone that contain a text', () => {
    expect(read(numbers, { containing: '99', fromLine: 2, lines: 2 })).toEqual({
      text: 'line 199\nline 299',
      totalLines: 19,
    });
  });

  it('has empty lines, and none of an empty text', () => {
    expect(read('\n\na\n', {})).toEqual({ text: '\n\na', totalLines: 3 });
    expect(read('', {})).toEqual({ text: '', totalLines: 0 });
  });

  it('does not part a character at the border of pieces', () => {
    expect(read('€'.repeat(50), {}, 4).text).toBe('€'.repeat(50));
  });

  it('begins at a byte, also in one line without an end', () => {
    expect(read(`${'x'.repeat(300_000)}END`, { fromByte: 299_998 }, 4_096)).toEqual({ text: 'xxEND', totalLines: 1 });
    expect(read('a\nb\nc', { fromByte: 2 })).toEqual({ text: 'b\nc', totalLines: 2 });
    expect(read('abc', { fromByte: 10 })).toEqual({ text: '', totalLines: 0 });
  });

  it('keeps no more than it may show', () => {
    const { text, totalLines } = read('y'.repeat(5_000_000), {}, 65_536);
    expect([text.length, totalLines]).toEqual([65_536, 1]);
    expect(read('z\n'.repeat(100_000), { lines: 1e9 }, 65_536)).toEqual({
      text: Array.from({ length: 2_000 }, () => 'z').join('\n'),
      totalLines: 100_000,
    });
  });
});

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { HeadTail } from './head-tail.js';

const feed = (kept: HeadTail, text: string, chunkBytes: number): HeadTail => {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += chunkBytes) kept.push(bytes.subarray(at, at + chunkBytes));
  return kept;
};

describe('HeadTail', () => {
  it('keeps everything up to head and tail together', () => {
    expect(feed(new HeadTail(4, 4), '12345678', 3).text()).toBe('12345678');
  });

  it('names the gap when there was more', () => {
    const kept = feed(new HeadTail(4, 4), 'abcd-----wxyz', 5);
    expect(kept.text()).toBe('abcd\n[... 5 bytes omitted ...]\nwxyz');
    expect(kept.bytes).toBe(13);
  });

  it('gives back all that was pushed as long as it holds it, and knows when it will not', () => {
    for (const text of ['', 'abc', 'abcd', 'abcdefgh']) {
      const kept = feed(new HeadTail(4, 4), text, 3);
      expect(Buffer.concat(kept.parts()).toString()).toBe(text);
      expect([kept.holds(8 - text.length), kept.holds(9 - text.length)]).toEqual([true, false]);
    }
  });

  it('does not show half a character at the edges of the gap', () => {
    const kept = feed(new HeadTail(5, 5), 'ääää----€€€', 4);
    expect(kept.text()).toBe('ää\n[... 14 bytes omitted ...]\n€');
  });

  it('keeps the same whatever the chunks are', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 80 }), fc.integer({ min: 1, max: 90 }), (text, chunkBytes) => {
        const inOne = feed(new HeadTail(16, 16), text, 1_000);
        const inMany = feed(new HeadTail(16, 16), text, chunkBytes);
        expect(inMany.text()).toBe(inOne.text());
        expect(inMany.bytes).toBe(Buffer.byteLength(text));
      }),
      { seed: 1, numRuns: 500 },
    );
  });

  it('keeps true beginnings and ends', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary-ascii', minLength: 33, maxLength: 200 }), (text) => {
        const shown = feed(new HeadTail(16, 16), text, 7).text();
        expect(shown.startsWith(text.slice(0, 16))).toBe(true);
        expect(shown.endsWith(text.slice(-16))).toBe(true);
      }),
      { seed: 2, numRuns: 300 },
    );
  });
});

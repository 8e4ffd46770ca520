import { describe, expect, it } from '@jest/globals';
import { KnownParts } from './known-parts.js';

describe('what was made last', () => {
  it('is made again only of something else, and is the same object where that reads the same', () => {
    const parts = new KnownParts<{ readonly text: string }>();
    const of = (place: number, from: string) => parts.of(place, [from], () => ({ text: from.trim() }));
    const first = of(0, 'a');
    expect([of(0, 'a'), parts.made]).toEqual([first, 1]);
    expect(of(0, 'a ')).toBe(first);
    expect(of(0, 'b')).toEqual({ text: 'b' });
    expect(of(1, 'b')).toEqual({ text: 'b' });
    expect(parts.made).toBe(4);
  });
});

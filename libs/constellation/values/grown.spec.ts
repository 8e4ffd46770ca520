import { describe, expect, it } from '@jest/globals';
import { Grown } from './grown.js';

describe('what grows with a list', () => {
  const shouted = () =>
    new Grown<string, string>((words) => words.flatMap((word) => (word === '' ? [] : [`${word}!`])));

  it('looks at each part once, and is the same array while nothing comes of the new ones', () => {
    const grown = shouted();
    const one = grown.of(['a', 'b']);
    expect(one).toEqual(['a!', 'b!']);
    expect(grown.of(['a', 'b', ''])).toBe(one);
    expect(grown.of(['a', 'b', '', 'c'])).toEqual(['a!', 'b!', 'c!']);
    expect(grown.looked).toBe(4);
  });

  it('begins anew with a list that is shorter or another one', () => {
    const grown = shouted();
    for (const words of [['a', 'b', 'c'], ['a', 'b'], [], ['x'], ['y', 'z']]) {
      expect(grown.of(words)).toEqual(words.map((word) => `${word}!`));
    }
  });
});

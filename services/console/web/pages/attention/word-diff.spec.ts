import { describe, expect, it } from '@jest/globals';
import { wordDiff } from './word-diff.js';

const told = (before: string, after: string): string =>
  wordDiff(before, after)
    .map(({ is, text }) => (is === 'same' ? text : is === 'removed' ? `[-${text}]` : `[+${text}]`))
    .join('');

describe('what is changed in a command line', () => {
  it.each([
    ['rm -r old', 'rm -r old', 'rm -r old'],
    ['rm -r old', 'rm -ri old', 'rm [--r][+-ri] old'],
    ['rm -r old', 'ls', '[-rm -r old][+ls]'],
    ['', 'ls -la', '[+ls -la]'],
    ['ls -la', '', '[-ls -la]'],
    ['rm  x', 'rm x', 'rm[-  ][+ ]x'],
    ['cp a b', 'cp a b && sync', 'cp a b[+ && sync]'],
    ['a\nb', 'a\nc\nb', 'a\n[+c\n]b'],
  ])('%j to %j', (before, after, shown) => expect(told(before, after)).toBe(shown));

  it.each([
    ['rm -r old new', 'rm -r new old'],
    ['a b a b a', 'b a b'],
    [
      Array.from({ length: 1_500 }, (_, at) => `a${at}`).join(' '),
      Array.from({ length: 1_500 }, (_, at) => `b${at}`).join(' '),
    ],
  ])('loses nothing of either', (before, after) => {
    const pieces = wordDiff(before, after);
    const without = (gone: string): string => pieces.flatMap(({ is, text }) => (is === gone ? [] : [text])).join('');
    expect([without('added'), without('removed')]).toEqual([before, after]);
  });
});

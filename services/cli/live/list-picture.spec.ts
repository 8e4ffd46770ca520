import { describe, expect, it } from '@jest/globals';
import { newLines, sheetOf } from './list-picture.js';

const lines = (count: number): string[] => Array.from({ length: count }, (_, index) => `row ${index}`);

describe('a list on a screen', () => {
  const screen = { columns: 20, rows: 8, foot: 'foot' };

  it('is whole where it fits, with what was said below it', () =>
    expect(sheetOf({ out: lines(5), err: ['said'] }, screen)).toEqual([...lines(5), '', 'said', 'foot']));

  it('is its beginning elsewhere, and says how much more there is', () =>
    expect(sheetOf({ out: lines(9), err: [] }, screen)).toEqual([...lines(5), '… and 4 lines more', '', 'foot']));

  it('counts the rows that a long line takes, and no colours', () => {
    const long = `\u001B[31m${'x'.repeat(40)}\u001B[0m`;
    expect(sheetOf({ out: [long, long, long], err: [] }, screen)).toEqual([long, long, long, '', 'foot']);
    expect(sheetOf({ out: [long, long, long, 'y'], err: [] }, screen)).toEqual([
      long,
      long,
      '… and 2 lines more',
      '',
      'foot',
    ]);
  });
});

it('what is new in a list is what is there for the first time, or once more', () => {
  expect(newLines([], ['a', 'b'])).toEqual(['a', 'b']);
  expect(newLines(['a', 'b'], ['c', 'a', 'b'])).toEqual(['c']);
  expect(newLines(['a'], ['a', 'a'])).toEqual(['a']);
  expect(newLines(['a', 'b'], ['b'])).toEqual([]);
});

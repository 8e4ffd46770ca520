import { expect, it } from '@jest/globals';
import { markdownOf, reordered } from './sheet-table.js';

it('is a table in Markdown whatever stands in its cells', () => {
  const rows = [
    ['a|b', null],
    ['two\nlines', 1.5],
  ];
  expect(markdownOf(rows)).toBe('| a\\|b |  |\n| --- | --- |\n| two lines | 1.5 |');
});

it('has the columns that are named first, and the others behind them', () => {
  const rows = [
    ['a', 'b', 'c'],
    [1, 2, 3],
  ];
  expect(reordered(rows, ['c', 'a'])).toEqual([
    ['c', 'a', 'b'],
    [3, 1, 2],
  ]);
});

it.each([
  ['is not there', ['a', 'x'], /"x"/u],
  ['is there twice', ['b'], /"b"/u],
  ['is named twice', ['a', 'a'], /twice/u],
])('is left as it is when a column %s', (_, order, why) => {
  expect(reordered([['a', 'b', 'b']], order)).toMatch(why);
});

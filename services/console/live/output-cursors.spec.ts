import { expect, it } from '@jest/globals';
import { OutputCursors } from './output-cursors.js';

const COMMAND = '0123456789abcdefghjkmnpqrs.disk.1.0.0';
const at = (offset: number, text: string, stream = 'stdout') => ({ commandId: COMMAND, stream, offset, text });
const cursors = (offset: number, chars?: number) =>
  new OutputCursors([{ command: COMMAND, stream: 'stdout', offset, ...(chars === undefined ? {} : { chars }) }]);

it('gives what is behind the bytes that are known, also out of the middle of a piece', () => {
  const known = cursors(4);
  expect([at(0, 'ab'), at(2, 'cdef'), at(6, 'g')].map((piece) => known.fresh(piece))).toEqual([
    at(2, ''),
    at(4, 'ef'),
    at(6, 'g'),
  ]);
});

it('counts characters behind the last piece, whatever bytes they were', () => {
  // One byte that is no text stands as a character of three: the next piece begins before its end.
  const known = cursors(2, 1);
  expect([at(0, 'ab'), at(2, '\u{FFFD}'), at(3, 'def')].map((piece) => known.fresh(piece).text)).toEqual([
    '',
    '',
    'def',
  ]);
});

it('finds its place in pieces that are cut otherwise', () => {
  const known = cursors(2, 3);
  expect([at(0, 'abcd'), at(4, 'efg')].map((piece) => known.fresh(piece))).toEqual([at(4, ''), at(5, 'fg')]);
});

it('leaves other streams and commands alone, and what nobody knows', () => {
  expect(cursors(100).fresh(at(0, 'x', 'stderr')).text).toBe('x');
  expect(new OutputCursors([]).fresh(at(0, 'x')).text).toBe('x');
});

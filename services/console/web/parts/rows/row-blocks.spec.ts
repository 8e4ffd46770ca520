import { describe, expect, it } from '@jest/globals';
import { blocksIn, blocksOf, rowPieces, rowByKey, ROWS_A_BLOCK } from './row-blocks.js';

const EVENTS = 20_000;
const HEIGHT = 560;
const heightOf = (): number => HEIGHT;
const newest = { order: blocksOf(EVENTS, true), heightOf };
const oldest = { order: blocksOf(EVENTS, false), heightOf };

describe('a list of 20,000 rows', () => {
  it('has only the blocks on the page that are seen', () => {
    expect(blocksIn(oldest, 0, 800)).toEqual([0, 1]);
    expect(blocksIn(newest, 0, 800)).toEqual([999, 998]);
    expect(blocksIn(newest, 500 * HEIGHT, 501 * HEIGHT)).toEqual([499]);
  });

  it('shows something wherever one has scrolled to', () => {
    expect(blocksIn(oldest, -900, -100)).toEqual([0]);
    expect(blocksIn(oldest, 9e9, 10e9)).toEqual([999]);
    expect(blocksIn({ order: [], heightOf }, 0, 800)).toEqual([]);
  });

  it('is as high as all of its rows, in a few pieces', () => {
    for (const open of [[], [0], [999], [3, 4, 700]]) {
      const pieces = rowPieces(newest, new Set(open));
      const px = pieces.map((piece) => ('px' in piece ? piece.px : HEIGHT));
      expect(px.reduce((sum, one) => sum + one, 0)).toBe(newest.order.length * HEIGHT);
      expect(pieces.length).toBeLessThanOrEqual(2 * open.length + 1);
      expect(pieces.flatMap((piece) => ('px' in piece ? [] : piece.block))).toEqual(
        newest.order.filter((block) => open.includes(block)),
      );
    }
  });

  it('keeps its blocks when it grows at the top', () => {
    expect(blocksOf(EVENTS + 1, true)).toEqual([1_000, ...newest.order]);
    expect(blocksOf(EVENTS - ROWS_A_BLOCK + 1, true)).toEqual(newest.order);
  });

  it.each([
    ['ArrowDown', 5, 6],
    ['ArrowUp', 0, 0],
    ['PageDown', EVENTS - 3, EVENTS - 1],
    ['PageUp', 15, 5],
    ['Home', 700, 0],
    ['End', 0, EVENTS - 1],
    ['x', 5, undefined],
  ])('leads by %s from %i to %s', (key, from, to) => expect(rowByKey(key, from, EVENTS)).toBe(to));
});

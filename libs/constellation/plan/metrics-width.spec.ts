import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { topologicalOrder, widthOf } from './metrics-width.js';

type Line = readonly [from: number, to: number];

const dag = (count: number, lines: readonly Line[]): number[][] => {
  const successors: number[][] = Array.from({ length: count }, () => []);
  for (const [from, to] of lines) successors[from]?.push(to);
  return successors;
};

/** The numbers of the tasks say nothing about the order in which they run. */
const dags = fc
  .record({
    count: fc.integer({ min: 1, max: 10 }),
    pairs: fc.array(fc.tuple(fc.nat(9), fc.nat(9)), { maxLength: 25 }),
    numbers: fc.shuffledSubarray([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], { minLength: 10 }),
  })
  .map(({ count, pairs, numbers }) => {
    const places = numbers.filter((number) => number < count);
    const lines = pairs.flatMap(([one, other]): Line[] => {
      const [from, to] = [places[Math.min(one, other)], places[Math.max(one, other)]];
      return from === undefined || to === undefined || from === to ? [] : [[from, to]];
    });
    return { count, lines };
  });

describe('widthOf', () => {
  it('is nothing for no tasks, one for a chain and everything for tasks without lines', () => {
    expect(widthOf([])).toBe(0);
    expect(widthOf([[], [2], [0]])).toBe(1);
    expect(widthOf([[], [], []])).toBe(3);
  });

  it('is more than the tasks of any level when tasks of several levels may run together', () => {
    // 0 -> 1, 0 -> 2 -> 3, and 4 alone: the levels 0 4 | 1 2 | 3 have two tasks at most, but 1, 3 and 4 are independent.
    expect(widthOf([[1, 2], [], [3], [], []])).toBe(3);
  });

  it('takes a line that is there twice as one', () => {
    expect(widthOf([[1, 1, 2], [2], []])).toBe(1);
  });

  it('equals the largest set of tasks none of which leads to another', () => {
    fc.assert(
      fc.property(dags, ({ count, lines }) => {
        expect(widthOf(dag(count, lines))).toBe(widestByTrying(count, lines));
      }),
      { numRuns: 1_000, seed: 20_260_302 },
    );
  });

  it('is exact for the largest constellation there may be', () => {
    // 40 rows of 50: each task leads to the one below it and to four others, so 50 chains cover all and a row is an antichain.
    const lines = Array.from({ length: 39 * 250 }, (_, index): Line => {
      const [row, column, step] = [Math.floor(index / 250), Math.floor(index / 5) % 50, index % 5];
      return [row * 50 + column, (row + 1) * 50 + ((column + step * 7) % 50)];
    });
    expect(widthOf(dag(2_000, lines))).toBe(50);
  });
});

describe('orderOf', () => {
  it('puts every task behind its predecessors', () => {
    fc.assert(
      fc.property(dags, ({ count, lines }) => {
        const order = topologicalOrder(dag(count, lines));
        expect(order.toSorted((one, other) => one - other)).toEqual(Array.from({ length: count }, (_, index) => index));
        for (const [from, to] of lines) expect(order.indexOf(from)).toBeLessThan(order.indexOf(to));
      }),
      { numRuns: 300, seed: 20_260_303 },
    );
  });

  it('leaves out what lies on a cycle or behind one', () => {
    expect(topologicalOrder([[1], [2], [1, 3], []])).toEqual([0]);
  });
});

function widestByTrying(count: number, lines: readonly Line[]): number {
  const reaches = Array.from({ length: count }, () => new Set<number>());
  for (const from of topologicalOrder(dag(count, lines)).toReversed()) {
    for (const [, to] of lines.filter(([start]) => start === from)) {
      for (const task of [to, ...(reaches[to] ?? [])]) reaches[from]?.add(task);
    }
  }
  let widest = 0;
  for (let set = 0; set < 2 ** count; set++) {
    const chosen = [...reaches.keys()].filter((task) => Math.floor(set / 2 ** task) % 2 === 1);
    const independent = chosen.every((one) => chosen.every((other) => reaches[one]?.has(other) !== true));
    if (independent) widest = Math.max(widest, chosen.length);
  }
  return widest;
}

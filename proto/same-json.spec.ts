import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { sameJson } from './same-json.js';

describe('sameJson', () => {
  it.each<[unknown, unknown, boolean]>([
    [{ a: 1, b: [1, 2] }, { b: [1, 2], a: 1 }, true],
    [{ a: 1, b: undefined }, { a: 1 }, true],
    [{ a: null }, {}, false],
    [[1, 2], [2, 1], false],
    [[], {}, false],
    [[1], [1, 2], false],
    [{ a: 1 }, { b: 1 }, false],
    ['1', 1, false],
    [null, {}, false],
    [null, null, true],
  ])('of %j and %j is %s', (left, right, same) => {
    expect(sameJson(left, right)).toBe(same);
    expect(sameJson(right, left)).toBe(same);
  });

  it('is the equality of what is read back', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), fc.jsonValue({ maxDepth: 3 }), (left, right) => {
        expect(sameJson(left, JSON.parse(JSON.stringify(left)))).toBe(true);
        if (sameJson(left, right)) expect(JSON.parse(JSON.stringify(left))).toEqual(JSON.parse(JSON.stringify(right)));
      }),
      { numRuns: 500, seed: 20_260_160 },
    );
  });
});

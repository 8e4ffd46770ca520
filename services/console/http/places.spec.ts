import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Places } from './places.js';

describe('Places', () => {
  it('says whose limit would be passed', () => {
    const places = new Places({ eachMax: 2, allMax: 3 });
    expect([places.take('a'), places.take('a'), places.take('a')]).toEqual([undefined, undefined, 'caller']);
    expect([places.take('b'), places.take('b'), places.take('c')]).toEqual([undefined, 'all', 'all']);
    places.giveBack('a');
    expect([places.take('c'), places.take('b')]).toEqual([undefined, 'all']);
  });

  it('never holds more than its limits, and has everything again when all was given back', () => {
    const step = fc.record({ caller: fc.constantFrom('a', 'b', 'c'), amount: fc.integer({ min: 1, max: 4 }) });
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const places = new Places({ eachMax: 6, allMax: 10 });
        const taken = steps.filter(({ caller, amount }) => places.take(caller, amount) === undefined);
        const sum = (some: typeof steps) => some.reduce((total, { amount }) => total + amount, 0);
        expect(sum(taken)).toBeLessThanOrEqual(10);
        for (const one of ['a', 'b', 'c']) {
          expect(sum(taken.filter(({ caller }) => caller === one))).toBeLessThanOrEqual(6);
        }
        for (const { caller, amount } of taken) places.giveBack(caller, amount);
        expect([places.take('a', 6), places.take('b', 4)]).toEqual([undefined, undefined]);
      }),
      { numRuns: 100 },
    );
  });
});

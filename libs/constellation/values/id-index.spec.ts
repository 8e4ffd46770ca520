import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { IdIndex } from './id-index.js';

const ids = fc.integer({ min: 0, max: 300 }).map((number) => `id-${number}`);

describe('IdIndex', () => {
  it('behaves as a copied map, through merges of what was added, and leaves the one before as it was', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(ids, { maxLength: 100 }),
        fc.array(fc.tuple(ids, fc.nat(1_000)), { maxLength: 200 }),
        (initial, additions) => {
          let plain: ReadonlyMap<string, number> = new Map(initial.map((id, position) => [id, position]));
          let index = IdIndex.of(initial);
          const olders: [IdIndex, ReadonlyMap<string, number>][] = [];
          additions.forEach(([id, position], at) => {
            if (at % 50 === 0) olders.push([index, plain]);
            plain = new Map([...plain, [id, position]]);
            index = index.with(id, position);
          });
          for (const [found, expected] of [...olders, [index, plain] as const]) {
            for (let number = 0; number <= 300; number++) {
              expect(found.get(`id-${number}`)).toBe(expected.get(`id-${number}`));
            }
          }
        },
      ),
      { numRuns: 60, seed: 20_260_153 },
    );
  });

  it('knows nothing at first, and takes the last of an id that stands there twice', () => {
    expect(IdIndex.of([]).get('a')).toBeUndefined();
    expect(IdIndex.of(['a', 'b', 'a']).get('a')).toBe(2);
  });

  it('is not confused by ids that objects have fields for', () => {
    const index = IdIndex.of(['constructor']).with('__proto__', 7);
    expect([index.get('constructor'), index.get('__proto__'), index.get('toString')]).toEqual([0, 7, undefined]);
  });
});

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { PersistentArray } from './persistent-array.js';

describe('PersistentArray', () => {
  it('behaves as a copied array, and leaves the one before as it was', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(), { minLength: 1, maxLength: 200 }),
        fc.array(fc.tuple(fc.nat(199), fc.nat())),
        (items, changes) => {
          let plain = items;
          let persistent = PersistentArray.from(items);
          for (const [at, value] of changes) {
            const index = at % items.length;
            const before = persistent;
            const beforePlain = plain;
            plain = plain.with(index, value);
            persistent = persistent.with(index, value);
            expect([...before]).toEqual(beforePlain);
          }
          expect([...persistent]).toEqual(plain);
          expect(persistent.length).toBe(items.length);
        },
      ),
      { seed: 20_260_106 },
    );
  });

  it('refuses an index outside of it', () => {
    expect(() => PersistentArray.from([1]).at(1)).toThrow(RangeError);
    expect(() => PersistentArray.from([1]).at(-1)).toThrow(RangeError);
  });
});

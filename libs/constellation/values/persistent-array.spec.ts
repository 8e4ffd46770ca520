import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { PersistentArray } from './persistent-array.js';

type Operation =
  | { readonly kind: 'with'; readonly at: number; readonly value: number }
  | { readonly kind: 'push'; readonly value: number };

const operations: fc.Arbitrary<Operation[]> = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('with' as const), at: fc.nat(300), value: fc.nat() }),
    fc.record({ kind: fc.constant('push' as const), value: fc.nat() }),
  ),
  { maxLength: 120 },
);

/** The plain array and the persistent one after each operation. */
function histories(
  items: readonly number[],
  all: readonly Operation[],
): [readonly number[], PersistentArray<number>][] {
  const history: [readonly number[], PersistentArray<number>][] = [[items, PersistentArray.from(items)]];
  for (const operation of all) {
    const [plain, persistent] = history.at(-1) ?? [[], PersistentArray.from<number>([])];
    if (operation.kind === 'push') {
      history.push([[...plain, operation.value], persistent.push(operation.value)]);
    } else if (plain.length > 0) {
      const at = operation.at % plain.length;
      history.push([plain.with(at, operation.value), persistent.with(at, operation.value)]);
    }
  }
  return history;
}

describe('PersistentArray', () => {
  it('behaves as a copied array, and leaves every one before as it was', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 100 }), operations, (items, all) => {
        for (const [plain, persistent] of histories(items, all)) {
          expect([...persistent]).toEqual(plain);
          expect(persistent.length).toBe(plain.length);
          if (plain.length > 0) expect(persistent.at(plain.length - 1)).toBe(plain.at(-1));
        }
      }),
      { seed: 20_260_106 },
    );
  });

  it('visits what differs from one it was made from, and nothing else', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 100 }), operations, (items, all) => {
        const history = histories(items, all);
        const [before, after] = [history[0], history.at(-1)];
        if (before === undefined || after === undefined) return;
        const visited = new Map<number, number>();
        after[1].forEachChanged(before[1], (item, index) => visited.set(index, item));
        const changed = after[0].flatMap((item, index) => (item === before[0][index] ? [] : [[index, item] as const]));
        expect([...visited]).toEqual(changed);
      }),
      { seed: 20_260_107 },
    );
  });

  it('is the same one when nothing changes', () => {
    const array = PersistentArray.from([1, 2, 3]);
    expect(array.with(1, 2)).toBe(array);
  });

  it('refuses an index outside of it', () => {
    expect(() => PersistentArray.from([1]).at(1)).toThrow(RangeError);
    expect(() => PersistentArray.from([1]).at(-1)).toThrow(RangeError);
    expect(() => PersistentArray.from([1]).with(1, 2)).toThrow('index 1 is outside of 0..0');
    expect(() => PersistentArray.from([]).at(0)).toThrow(RangeError);
  });
});

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { UnoMemory, UnoReader, UnoWriter, type UnoValue } from './urp-values.js';

const cells: fc.Arbitrary<UnoValue> = fc.oneof(
  fc.double({ noNaN: true }).map((value): UnoValue => ({ type: 'double', value })),
  fc.string({ unit: 'grapheme' }).map((value): UnoValue => ({ type: 'string', value: value.toWellFormed() })),
  fc.constant<UnoValue>({ type: 'void', value: null }),
);
const read = (bytes: Buffer, type: string, memory = new UnoMemory()): UnoValue =>
  new UnoReader(bytes, memory).value(type);

describe('values for a spreadsheet', () => {
  it('come out as they went in, also in long lists', () => {
    fc.assert(
      fc.property(fc.array(fc.array(cells, { maxLength: 300 }), { maxLength: 4 }), (rows) => {
        expect(read(new UnoWriter().value('[][]any', rows).bytes(), '[][]any')).toEqual(rows);
      }),
    );
  });

  it('of a name and an object are read, and a name that was said once is known again', () => {
    const memory = new UnoMemory();
    // A type and an object with numbers, and then both by these numbers alone.
    const type = 'com.sun.star.table.XCell';
    const first = Buffer.concat([
      Buffer.of(22 | 0x80, 0, 5, type.length),
      Buffer.from(type),
      Buffer.from('\u0003abc\0\u0007', 'latin1'),
    ]);
    const again = Buffer.of(22, 0, 5, 0, 0, 7);
    const any = { type, value: { oid: 'abc', type } };
    expect(read(first, 'any', memory)).toEqual(any);
    expect(read(again, 'any', memory)).toEqual(any);
    expect(() => read(again, 'any')).toThrow(RangeError);
  });

  it('of any bytes are read or refused, and nothing else is thrown', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), fc.constantFrom('any', '[][]any', '[]string'), (bytes, type) => {
        try {
          read(Buffer.from(bytes), type);
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError);
        }
      }),
    );
  });
});

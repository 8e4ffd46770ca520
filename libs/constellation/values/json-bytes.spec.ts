import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { jsonBytes } from './json-bytes.js';

/** Any character, halves of characters included. (The unit `binary` of fast-check takes two seconds to be made.) */
const anyCharacter = fc.nat(0x10_ff_ff).map((code) => String.fromCodePoint(code));

describe('jsonBytes', () => {
  it.each([
    ['', 2],
    ['abc', 5],
    ['é', 4],
    ['€', 5],
    ['🚀', 6],
    ['\uD800', 8],
    ['\n', 4],
  ])('of %j is %i', (text, bytes) => {
    expect(jsonBytes(text)).toBe(bytes);
  });

  it('is what an encoder would write', () => {
    fc.assert(
      fc.property(fc.json(), fc.string({ unit: anyCharacter }), (json, text) => {
        const value: unknown = [JSON.parse(json), text];
        expect(jsonBytes(value)).toBe(Buffer.byteLength(JSON.stringify(value), 'utf8'));
      }),
      { seed: 20_260_110 },
    );
  });
});

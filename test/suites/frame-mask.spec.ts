import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, it } from '@jest/globals';

/* What bundles give `ws` to mask frames with. */

type Mask = (source: Uint8Array, key: Uint8Array, output: Uint8Array, offset: number, length: number) => void;
type Unmask = (bytes: Uint8Array, key: Uint8Array) => void;
let mask: Mask;
let unmask: Unmask;
beforeAll(async () => {
  const tool = pathToFileURL(resolve(import.meta.dirname, '../../tools/frame-mask.mjs')).href;
  ({ mask, unmask } = (await import(tool)) as { readonly mask: Mask; readonly unmask: Unmask });
});

const KEY = Uint8Array.from([0x37, 0xfa, 0x21, 0x3d]);
const LENGTHS = [0, 1, 2, 3, 4, 5, 7, 8, 31, 32, 1_003];
const PLACES = [0, 1, 2, 3, 4, 14];
const CASES = LENGTHS.flatMap((length) => PLACES.map((place) => [length, place] as const));

const content = (length: number): Uint8Array => Uint8Array.from({ length }, (_, at) => (at * 37 + 11) % 256);
/** RFC 6455, 5.3: "transformed-octet-i is the XOR of original-octet-i with octet at index i modulo 4 of the masking key". */
const asTheRfcSays = (bytes: Uint8Array): Uint8Array => bytes.map((byte, at) => byte ^ (KEY[at % 4] ?? 0));

/** Bytes that begin at this place of their memory, with others around them. */
function placed(bytes: Uint8Array, place: number): { readonly memory: Uint8Array; readonly bytes: Uint8Array } {
  const memory = new Uint8Array(place + bytes.length + 5).fill(0xee);
  memory.set(bytes, place);
  return { memory, bytes: memory.subarray(place, place + bytes.length) };
}
const around = (memory: Uint8Array, place: number, length: number): Uint8Array =>
  Uint8Array.from([...memory.subarray(0, place), ...memory.subarray(place + length)]);

describe('the mask of a frame', () => {
  it('is that of the example in RFC 6455, 5.7', () => {
    const hello = new TextEncoder().encode('Hello');
    unmask(hello, KEY);
    expect([...hello]).toEqual([0x7f, 0x9f, 0x4d, 0x51, 0x58]);
  });

  it.each(CASES)('of %d bytes at place %d is laid where they are, and nowhere else', (length, place) => {
    const { memory, bytes } = placed(content(length), place);
    unmask(bytes, KEY);
    expect(bytes).toEqual(asTheRfcSays(content(length)));
    expect(new Set(around(memory, place, length))).toEqual(new Set([0xee]));
  });

  it.each(CASES)('of %d bytes goes to place %d of another memory, and leaves the source as it is', (length, place) => {
    const source = content(length + 3);
    const output = new Uint8Array(place + length + 5).fill(0xee);
    mask(source, KEY, output, place, length);
    expect(output.subarray(place, place + length)).toEqual(asTheRfcSays(content(length)));
    expect(new Set(around(output, place, length))).toEqual(new Set([0xee]));
    expect(source).toEqual(content(length + 3));
  });

  it('may be laid from a memory onto itself', () => {
    const bytes = content(99);
    mask(bytes, KEY, bytes, 0, 99);
    expect(bytes).toEqual(asTheRfcSays(content(99)));
  });
});

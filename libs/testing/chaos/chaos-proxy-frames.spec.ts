import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { FrameScan } from './chaos-proxy-frames.js';

const SEED = 20_261_121;
const UPGRADE = Buffer.from('GET /ws HTTP/1.1\r\nUpgrade: websocket\r\n\r\n');
const [TEXT, PING] = [0x81, 0x89];

/** As RFC 6455 section 5.2 has it. */
function frame(opcode: number, size: number, masked: boolean): Buffer {
  const mask = masked ? 0x80 : 0;
  const head = Buffer.alloc(size < 126 ? 2 : size < 65_536 ? 4 : 10);
  head[0] = opcode;
  head[1] = mask | (size < 126 ? size : size < 65_536 ? 126 : 127);
  if (head.length === 4) head.writeUInt16BE(size, 2);
  if (head.length === 10) head.writeBigUInt64BE(BigInt(size), 2);
  return Buffer.concat([head, Buffer.alloc(masked ? 4 : 0), Buffer.alloc(size, 'x')]);
}

/** The first middle, counted from the beginning of the stream. */
function middleOf(stream: Buffer, cuts: readonly number[], bytesMin: number): number | undefined {
  const scan = new FrameScan();
  const ends = [...new Set([...cuts.map((cut) => cut % stream.length), stream.length])].toSorted((a, b) => a - b);
  const middles = ends.map((end, index) => {
    const begin = ends[index - 1] ?? 0;
    const middle = scan.middleIn(stream.subarray(begin, end), bytesMin);
    return middle === undefined ? undefined : begin + middle;
  });
  return middles.find((middle) => middle !== undefined);
}

describe('FrameScan', () => {
  it('finds the middle of the first large enough data frame, however the stream is cut into pieces', () => {
    const sizes = fc.oneof(fc.integer({ min: 0, max: 300 }), fc.constantFrom(125, 126, 65_535, 65_536));
    const frames = fc.array(fc.record({ size: sizes, opcode: fc.constantFrom(TEXT, PING), masked: fc.boolean() }), {
      minLength: 1,
      maxLength: 6,
    });
    fc.assert(
      fc.property(frames, fc.array(fc.nat(), { maxLength: 40 }), fc.integer({ min: 2, max: 200 }), (all, cuts, min) => {
        const wanted = all.findIndex(({ size, opcode }) => opcode === TEXT && size >= min);
        const parts = [UPGRADE, ...all.map(({ opcode, size, masked }) => frame(opcode, size, masked))];
        const before = Buffer.concat(parts.slice(0, wanted + 2)).length;
        const size = all[wanted]?.size ?? 0;
        const expected = wanted < 0 ? undefined : before - size + (size >> 1);
        expect(middleOf(Buffer.concat(parts), cuts, min)).toBe(expected);
      }),
      { seed: SEED, numRuns: 500 },
    );
  });

  it('finds it in a stream that comes byte by byte', () => {
    const stream = Buffer.concat([UPGRADE, frame(TEXT, 10, true), frame(TEXT, 20, true)]);
    const everywhere = Array.from({ length: stream.length }, (_, index) => index);
    expect(middleOf(stream, everywhere, 20)).toBe(stream.length - 10);
  });
});

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { FrameMeter } from './frame-meter.js';

interface Sent {
  readonly opcode: number;
  readonly bytes: number;
}

/** A frame as a client sends it: masked, with the shortest form of its length. */
function frameOf({ opcode, bytes }: Sent): Buffer {
  const length = bytes < 126 ? Buffer.from([0x80 | bytes]) : Buffer.alloc(bytes < 65_536 ? 3 : 9);
  if (length.length === 3) length.writeUInt16BE(bytes, length.writeUInt8(0x80 | 126));
  if (length.length === 9) length.writeBigUInt64BE(BigInt(bytes), length.writeUInt8(0x80 | 127));
  return Buffer.concat([Buffer.from([0x80 | opcode]), length, Buffer.from([1, 2, 3, 4]), Buffer.alloc(bytes, 0x81)]);
}

describe('what a message is going to be', () => {
  it('is known at its header, however the bytes are cut, and pings are none', () => {
    const frames = fc.array(
      fc.record({ opcode: fc.constantFrom(1, 2, 9, 10), bytes: fc.constantFrom(0, 1, 125, 126, 127, 65_535, 65_536) }),
      { maxLength: 6 },
    );
    const cuts = fc.array(fc.integer({ min: 1, max: 70_000 }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(frames, cuts, (sent, steps) => {
        const announced: number[] = [];
        const meter = new FrameMeter((bytes) => announced.push(bytes));
        const all = Buffer.concat(sent.map(frameOf));
        for (let at = 0, turn = 0; at < all.length; turn++) {
          const step = steps[turn % steps.length] ?? 1;
          meter.take(all.subarray(at, at + step));
          at += step;
        }
        expect(announced).toEqual(sent.flatMap(({ opcode, bytes }) => (opcode < 8 ? [bytes] : [])));
      }),
      { seed: 13, numRuns: 100 },
    );
  });

  it('grows with every part of it, with a ping between them', () => {
    const announced: number[] = [];
    const meter = new FrameMeter((bytes) => announced.push(bytes));
    for (const sent of [
      { opcode: 1, bytes: 300 },
      { opcode: 9, bytes: 4 },
      { opcode: 0, bytes: 200 },
      { opcode: 1, bytes: 7 },
    ])
      meter.take(frameOf(sent));
    expect(announced).toEqual([300, 500, 7]);
  });

  it('is known before anything of it has come', () => {
    const announced: number[] = [];
    const header = frameOf({ opcode: 1, bytes: 70_000 }).subarray(0, 14);
    new FrameMeter((bytes) => announced.push(bytes)).take(header);
    expect(announced).toEqual([70_000]);
  });
});

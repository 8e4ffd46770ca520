import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { crc32, deflateSync } from 'node:zlib';
import { cropped, marked, pngOf, readPng, type Box, type Picture } from './index.js';

const pictures: fc.Arbitrary<Picture> = fc
  .tuple(fc.integer({ min: 1, max: 24 }), fc.integer({ min: 1, max: 24 }))
  .chain(([width, height]) =>
    fc
      .uint8Array({ minLength: width * height * 3, maxLength: width * height * 3 })
      .map((rgb) => ({ width, height, rgb })),
  );
const sides = fc.integer({ min: -40, max: 60 });
const boxes: fc.Arbitrary<Box> = fc.tuple(sides, sides, sides, sides);

const bytesOf = ({ rgb }: Picture): number[] => [...rgb];

describe('a picture', () => {
  it('comes out of its PNG as it went in', () => {
    fc.assert(
      fc.property(pictures, (picture) => {
        const read = readPng(pngOf(picture));
        expect(read).toEqual({ picture: { ...picture, rgb: new Uint8Array(picture.rgb) } });
      }),
    );
  });

  it('has in its parts the points that it has there', () => {
    fc.assert(
      fc.property(pictures, boxes, (picture, box) => {
        const part = cropped(picture, box);
        const [left, top] = [Math.max(box[0], 0), Math.max(box[1], 0)];
        const [right, bottom] = [Math.min(box[2], picture.width), Math.min(box[3], picture.height)];
        if (right <= left || bottom <= top) return expect(part).toBeUndefined();
        expect([part?.width, part?.height]).toEqual([right - left, bottom - top]);
        for (let y = top; y < bottom; y++) {
          for (let x = left; x < right; x++) {
            const [at, of] = [((y - top) * (right - left) + x - left) * 3, (y * picture.width + x) * 3];
            expect(part?.rgb.slice(at, at + 3)).toEqual(picture.rgb.slice(of, of + 3));
          }
        }
      }),
    );
  });

  it('is as it was after marks were made of it, wherever they lie, and as large', () => {
    fc.assert(
      fc.property(pictures, fc.array(fc.tuple(boxes, fc.string({ maxLength: 4 }))), (picture, places) => {
        const before = bytesOf(picture);
        const marks = places.map(([box, label]) => ({ box, label, colour: [255, 246, 143] as const }));
        const drawn = marked(picture, marks);
        expect(bytesOf(picture)).toEqual(before);
        expect([drawn.width, drawn.height, drawn.rgb.length]).toEqual([
          picture.width,
          picture.height,
          picture.rgb.length,
        ]);
      }),
    );
  });
});

describe('a PNG of others', () => {
  it('is refused in a sentence when any of it is changed, cut or added to, and nothing is thrown', () => {
    const png = pngOf({ width: 5, height: 4, rgb: Uint8Array.from({ length: 60 }, (_, n) => n * 4) });
    const changes = fc.array(fc.tuple(fc.nat(png.length - 1), fc.nat(255)), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(changes, fc.nat(png.length), (bytes, end) => {
        const changed = Buffer.from(png);
        for (const [at, value] of bytes) changed[at] = value;
        const read = readPng(changed.subarray(0, end));
        expect('why' in read || changed.subarray(0, end).equals(png)).toBe(true);
      }),
    );
  });

  it('of any bytes is no picture', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(readPng(bytes)).toHaveProperty('why');
      }),
    );
  });
});

/** A PNG of parts whose checksums are right. */
function pngWith(head: Buffer, data: Buffer, more: readonly (readonly [string, Buffer])[] = []): Buffer {
  const chunk = (type: string, content: Buffer): Buffer => {
    const named = Buffer.concat([Buffer.from(type, 'latin1'), content]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(content.length);
    sum.writeUInt32BE(crc32(named));
    return Buffer.concat([length, named, sum]);
  };
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', head),
    ...more.map(([type, content]) => chunk(type, content)),
    chunk('IDAT', data),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function head(width: number, height: number, colours = 2, [bits, interlace] = [8, 0]): Buffer {
  const bytes = Buffer.alloc(13);
  bytes.writeUInt32BE(width, 0);
  bytes.writeUInt32BE(height, 4);
  bytes.set([bits ?? 8, colours, 0, 0, interlace ?? 0], 8);
  return bytes;
}

describe('a PNG that is well formed and hostile', () => {
  it.each([
    ['of a size that nobody has memory for', head(2 ** 31 - 1, 2 ** 31 - 1), Buffer.alloc(0), 'its sides'],
    ['of more points than four screens', head(16_000, 16_000), Buffer.alloc(0), 'points'],
    ['without any', head(0, 5), Buffer.alloc(0), 'its sides'],
    ['whose data are a bomb', head(2, 2), Buffer.alloc(5_000_000), 'its data are not'],
    ['whose data are too short', head(200, 200), Buffer.alloc(10), 'its data are not'],
    ['with a filter that there is not', head(1, 1), Buffer.from([9, 1, 2, 3]), 'filter 9'],
    ['of sixteen bits', head(1, 1, 2, [16, 0]), Buffer.alloc(7), '8 bits'],
    ['that is interlaced', head(1, 1, 2, [8, 1]), Buffer.alloc(4), 'interlaced'],
    ['with a colour that is not in its palette', head(1, 1, 3), Buffer.from([0, 7]), 'palette'],
  ])('%s is refused', (_, header, rows, why) => {
    const png = pngWith(header, deflateSync(rows), [['PLTE', Buffer.from([1, 2, 3])]]);
    expect(readPng(png)).toEqual({ why: expect.stringContaining(why) });
  });

  it('with two heads is refused', () => {
    expect(readPng(pngWith(head(1, 1), deflateSync(Buffer.alloc(4)), [['IHDR', head(9, 9)]]))).toHaveProperty('why');
  });
});

describe('a PNG of another program', () => {
  it.each([
    ['grey', 0, [0, 7, 9], [7, 7, 7, 9, 9, 9]],
    ['grey with alpha', 4, [0, 7, 255, 9, 0], [7, 7, 7, 9, 9, 9]],
    ['true colour with alpha', 6, [0, 1, 2, 3, 255, 4, 5, 6, 0], [1, 2, 3, 4, 5, 6]],
    ['places in a palette', 3, [0, 1, 0], [40, 50, 60, 10, 20, 30]],
    ['differences to the left', 2, [1, 1, 2, 3, 1, 1, 1], [1, 2, 3, 2, 3, 4]],
    ['averages', 2, [3, 10, 20, 30, 1, 1, 1], [10, 20, 30, 6, 11, 16]],
    ['Paeth', 2, [4, 10, 20, 30, 1, 1, 1], [10, 20, 30, 11, 21, 31]],
  ])('of %s is read', (_, colours, row, rgb) => {
    const palette: [string, Buffer] = ['PLTE', Buffer.from([10, 20, 30, 40, 50, 60])];
    const png = pngWith(head(2, 1, colours), deflateSync(Buffer.from(row)), [palette]);
    expect(readPng(png)).toEqual({ picture: { width: 2, height: 1, rgb: Uint8Array.from(rgb) } });
  });
});

describe('a mark', () => {
  it('shows its number whole, in black on its colour, also at the edge of the picture', () => {
    const white: Picture = { width: 60, height: 40, rgb: new Uint8Array(60 * 40 * 3).fill(255) };
    const colour = [165, 240, 181] as const;
    const drawn = (box: Box): Picture => marked(white, [{ box, label: '42', colour }]);
    const inked = ({ rgb }: Picture): number =>
      bytesOf({ width: 1, height: 1, rgb }).filter((value) => value === 0).length;
    const whole = inked(drawn([10, 10, 50, 30]));
    expect(whole).toBeGreaterThan(100);
    expect(inked(drawn([55, 35, 80, 80]))).toBe(whole);
  });
});

import { crc32, deflateSync } from 'node:zlib';
import { BYTES_PER_POINT, type Picture } from './pixels.js';

export const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** Rows of a screen are often as the row above: written as the difference to it, they are zeros. Others stay as they are. */
const UP = 2;
/** Screens compress well at once: a higher level takes three times as long for a tenth of the bytes. */
const LEVEL = 3;

/** The picture as a PNG, true colour, 8 bits. */
export function pngOf({ width, height, rgb }: Picture): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 8;
  header[9] = 2;
  return Buffer.concat([
    PNG_SIGNATURE,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rowsOf(width, height, rgb), { level: LEVEL })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** Comparing and copying rows takes a tenth of the time of a difference for each byte, and screens get no larger by it. */
function rowsOf(width: number, height: number, rgb: Uint8Array): Uint8Array {
  const stride = width * BYTES_PER_POINT;
  const bytes = Buffer.from(rgb.buffer, rgb.byteOffset, rgb.byteLength);
  const rows = new Uint8Array((stride + 1) * height);
  for (let row = 0; row < height; row++) {
    const [from, to] = [row * stride, row * (stride + 1)];
    if (row > 0 && bytes.compare(bytes, from - stride, from, from, from + stride) === 0) rows[to] = UP;
    else rows.set(rgb.subarray(from, from + stride), to + 1);
  }
  return rows;
}

/** A part of a PNG. */
export function chunk(type: string, data: Uint8Array): Buffer {
  const bytes = Buffer.alloc(data.length + 12);
  bytes.writeUInt32BE(data.length, 0);
  bytes.write(type, 4, 'latin1');
  bytes.set(data, 8);
  bytes.writeUInt32BE(crc32(bytes.subarray(4, data.length + 8)), data.length + 8);
  return bytes;
}

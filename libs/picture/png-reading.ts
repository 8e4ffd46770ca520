import { crc32, inflateSync } from 'node:zlib';
import { BYTES_PER_POINT, PICTURE_LIMITS, sizeProblem, type Picture } from './pixels.js';
import { PNG_SIGNATURE } from './png-writing.js';

/** What became of reading a PNG of others: the picture, or why there is none. */
export type ReadPng = { readonly picture: Picture } | { readonly why: string };

interface Head {
  readonly width: number;
  readonly height: number;
  readonly colours: number;
}

/** A PNG in its parts, its data still compressed. */
interface Parts {
  readonly head: Head;
  readonly palette: Uint8Array | undefined;
  readonly data: Buffer;
}

/** Bytes for each point, by type of colours: grey, true colour, a place in the palette, grey and alpha, true colour and alpha. */
const CHANNELS: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };
const PALETTE = 3;
const CHUNKS_MAX = 100_000;

/**
 * Reads a PNG of 8 bits that is not interlaced, as screens are kept. It is the input of others: nothing of it is believed, no more
 * memory is taken than a picture of the size in its head needs, and transparency is dropped. Never throws.
 */
export function readPng(bytes: Uint8Array, pointsMax: number = PICTURE_LIMITS.pointsMax): ReadPng {
  const parts = partsOf(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  if ('why' in parts) return parts;
  const { head, palette, data } = parts;
  const points = head.width * head.height;
  if (points > pointsMax) return { why: `it has ${points} points, and may have ${pointsMax}` };
  const channels = CHANNELS[head.colours] ?? 1;
  const length = (head.width * channels + 1) * head.height;
  const rows = inflated(data, length);
  if (rows?.length !== length) return { why: 'its data are not those of a picture of its size' };
  const problem = unfilter(rows, head.width * channels, head.height, channels);
  if (problem !== undefined) return { why: problem };
  return coloured(rows, head, palette);
}

function partsOf(bytes: Buffer): Parts | { readonly why: string } {
  if (!bytes.subarray(0, 8).equals(PNG_SIGNATURE)) return { why: 'it does not begin as a PNG does' };
  let head: Head | undefined;
  let palette: Uint8Array | undefined;
  const data: Buffer[] = [];
  let at = 8;
  for (let chunks = 0; chunks < CHUNKS_MAX; chunks++) {
    if (at + 12 > bytes.length) return { why: 'it ends in the middle' };
    const length = bytes.readUInt32BE(at);
    if (at + 12 + length > bytes.length) return { why: 'it ends in the middle' };
    const type = bytes.toString('latin1', at + 4, at + 8);
    const content = bytes.subarray(at + 8, at + 8 + length);
    if (crc32(bytes.subarray(at + 4, at + 8 + length)) !== bytes.readUInt32BE(at + 8 + length)) {
      return { why: 'a checksum in it is wrong' };
    }
    at += 12 + length;
    if ((type === 'IHDR') !== (head === undefined)) return { why: 'its head is not where a head belongs' };
    if (type === 'IHDR') {
      const read = headOf(content);
      if ('why' in read) return read;
      head = read;
    } else if (type === 'PLTE') palette = content;
    else if (type === 'IDAT') data.push(content);
    else if (type === 'IEND' && head !== undefined) return { head, palette, data: Buffer.concat(data) };
  }
  return { why: 'it has too many parts' };
}

function headOf(content: Buffer): Head | { readonly why: string } {
  if (content.length !== 13) return { why: 'its head is not one' };
  const [width, height, colours] = [content.readUInt32BE(0), content.readUInt32BE(4), content[9] ?? 0];
  const problem = sizeProblem(width, height);
  if (problem !== undefined) return { why: problem };
  if (content[8] !== 8 || CHANNELS[colours] === undefined) return { why: 'it is not one of 8 bits' };
  return content[12] === 0 ? { width, height, colours } : { why: 'it is interlaced' };
}

function inflated(data: Buffer, lengthMax: number): Buffer | undefined {
  try {
    return inflateSync(data, { maxOutputLength: lengthMax });
  } catch {
    return undefined;
  }
}

/** Makes values of the differences that are stored, in place. */
function unfilter(rows: Buffer, stride: number, height: number, channels: number): string | undefined {
  for (let row = 0; row < height; row++) {
    const start = row * (stride + 1) + 1;
    const filter = rows[start - 1] ?? 0;
    if (filter > 4) return `a row of it has the filter ${filter}, which there is not`;
    if (filter === 0) continue;
    for (let i = 0; i < stride; i++) {
      const left = i < channels ? 0 : (rows[start + i - channels] ?? 0);
      const up = row === 0 ? 0 : (rows[start + i - stride - 1] ?? 0);
      const corner = row === 0 || i < channels ? 0 : (rows[start + i - stride - 1 - channels] ?? 0);
      rows[start + i] = ((rows[start + i] ?? 0) + guess(filter, left, up, corner)) & 255;
    }
  }
  return undefined;
}

function guess(filter: number, left: number, up: number, corner: number): number {
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return (left + up) >> 1;
  const [toLeft, toUp, toCorner] = [
    Math.abs(up - corner),
    Math.abs(left - corner),
    Math.abs(left + up - corner - corner),
  ];
  if (toLeft <= toUp && toLeft <= toCorner) return left;
  return toUp <= toCorner ? up : corner;
}

function coloured(rows: Buffer, { width, height, colours }: Head, palette: Uint8Array | undefined): ReadPng {
  const channels = CHANNELS[colours] ?? 1;
  const rgb = new Uint8Array(width * height * BYTES_PER_POINT);
  const places = colours === PALETTE ? Math.floor((palette?.length ?? 0) / BYTES_PER_POINT) : 0;
  let to = 0;
  for (let row = 0; row < height; row++) {
    let from = row * (width * channels + 1) + 1;
    for (let column = 0; column < width; column++, from += channels, to += BYTES_PER_POINT) {
      const value = rows[from] ?? 0;
      if (colours === PALETTE) {
        if (value >= places) return { why: 'a point of it has a colour that its palette has not' };
        rgb.set(palette?.subarray(value * BYTES_PER_POINT, (value + 1) * BYTES_PER_POINT) ?? [], to);
        continue;
      }
      const isGrey = channels < BYTES_PER_POINT;
      rgb[to] = value;
      rgb[to + 1] = isGrey ? value : (rows[from + 1] ?? 0);
      rgb[to + 2] = isGrey ? value : (rows[from + 2] ?? 0);
    }
  }
  return { picture: { width, height, rgb } };
}

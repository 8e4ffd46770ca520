import { chunk, PNG_SIGNATURE } from './png-writing.js';

/** Signature and header, which every PNG begins with. */
const HEAD_BYTES = 33;
const KEY = 'orrery-run\0';
const TEXT = 'tEXt';
const NAME_BYTES_MAX = 64;

/**
 * The PNG with the run that it was taken for in it, as a text behind its head: no two runs have the same bytes then, so that what is
 * done with the pictures of one run touches no other. What is no PNG stays as it is.
 */
export function pngOfRun(png: Uint8Array, runId: string): Buffer {
  const bytes = Buffer.from(png.buffer, png.byteOffset, png.byteLength);
  if (!isPng(bytes) || runOfPng(bytes) === runId) return bytes;
  const text = chunk(TEXT, Buffer.from(`${KEY}${runId}`, 'latin1'));
  return Buffer.concat([bytes.subarray(0, HEAD_BYTES), text, bytes.subarray(HEAD_BYTES)]);
}

/** The run that a PNG was taken for, by its beginning; undefined: it names none. */
export function runOfPng(beginning: Uint8Array): string | undefined {
  const bytes = Buffer.from(beginning.buffer, beginning.byteOffset, beginning.byteLength);
  const name = HEAD_BYTES + 8 + KEY.length;
  if (!isPng(bytes) || bytes.length < name) return undefined;
  const length = bytes.readUInt32BE(HEAD_BYTES) - KEY.length;
  if (length < 1 || length > NAME_BYTES_MAX || bytes.length < name + length) return undefined;
  if (bytes.toString('latin1', HEAD_BYTES + 4, name) !== TEXT + KEY) return undefined;
  return bytes.toString('latin1', name, name + length);
}

const isPng = (bytes: Buffer): boolean =>
  bytes.length >= HEAD_BYTES && bytes.subarray(0, PNG_SIGNATURE.length).equals(PNG_SIGNATURE);

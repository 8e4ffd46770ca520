/*
 * A piece of a file without its price: as JSON it is a third longer, is printed, parsed and checked character by character. Between ends
 * that have both said so a FILE_CHUNK may be a binary frame, which only its sender decides:
 *
 *   2 bytes: length of the head │ head: the frame as JSON, `data` empty │ the bytes of the piece
 */

const LENGTH_BYTES = 2;
/** A head is a frame without its data: a few ids and numbers. */
const HEAD_BYTES_MAX = 4_096;

export function binaryPiece(head: string, data: Uint8Array): Uint8Array {
  const headBytes = Buffer.byteLength(head);
  if (headBytes > HEAD_BYTES_MAX) throw new RangeError(`the head of a piece has ${headBytes} bytes`);
  const frame = Buffer.allocUnsafe(LENGTH_BYTES + headBytes + data.length);
  frame.writeUInt16BE(headBytes);
  frame.write(head, LENGTH_BYTES);
  frame.set(data, LENGTH_BYTES + headBytes);
  return frame;
}

/** Undefined when it cannot be one. The data is a part of the frame, and not copied. */
export function splitPiece(frame: Uint8Array): { readonly head: string; readonly data: Uint8Array } | undefined {
  const bytes = Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength);
  if (bytes.length < LENGTH_BYTES) return undefined;
  const end = LENGTH_BYTES + bytes.readUInt16BE();
  if (end > bytes.length || end > LENGTH_BYTES + HEAD_BYTES_MAX) return undefined;
  return { head: bytes.toString('utf8', LENGTH_BYTES, end), data: bytes.subarray(end) };
}

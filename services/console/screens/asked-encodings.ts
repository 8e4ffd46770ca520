import type { ViewerMessage } from './client-messages.js';

const SET_ENCODINGS = 2;
const HEAD_BYTES = 4;
const EACH_BYTES = 4;
/** A mouse of more than seven buttons: a server that knows it is told of them in messages of another length, which are not taken here. */
const EXTENDED_MOUSE_BUTTONS = -316;

/** What of a viewer's wishes is passed on: only what keeps the messages as they are known here. */
export function withKnownEncodings({ type, bytes }: ViewerMessage): ViewerMessage {
  if (type !== SET_ENCODINGS) return { type, bytes };
  const kept: Buffer[] = [];
  for (let at = HEAD_BYTES; at < bytes.length; at += EACH_BYTES) {
    if (bytes.readInt32BE(at) !== EXTENDED_MOUSE_BUTTONS) kept.push(bytes.subarray(at, at + EACH_BYTES));
  }
  const head = Buffer.from(bytes.subarray(0, HEAD_BYTES));
  head.writeUInt16BE(kept.length, 2);
  return { type, bytes: Buffer.concat([head, ...kept]) };
}

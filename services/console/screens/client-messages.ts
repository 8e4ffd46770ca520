/*
 * What the viewer of a screen says to its server, taken apart (RFC 6143, 7.5, and what noVNC says beside it):
 *
 *   type  length         what
 *      0  20             SetPixelFormat
 *      2  4 + 4n         SetEncodings
 *      3  10             FramebufferUpdateRequest
 *      4  8              KeyEvent             a person acts
 *      5  6              PointerEvent         a person acts
 *      6  8 + n          ClientCutText        a person acts
 *    150  10             EnableContinuousUpdates
 *    248  9 + n          ClientFence
 *    255  12             QEMUExtendedKeyEvent a person acts
 *
 * What is not in this table (a new size of the desktop, a restart of the machine) is no viewer's business: it ends the view.
 */

export const RFB = { key: 4, pointer: 5, cutText: 6, qemu: 255 } as const;

/** Longest text that a person may paste, and longest list of encodings. */
const CUT_TEXT_BYTES_MAX = 64 * 1024;
const ENCODINGS_MAX = 256;
const FENCE_BYTES_MAX = 64;
const EXTENDED_KEY = 0;

/** A message, whole. */
export interface ViewerMessage {
  readonly type: number;
  readonly bytes: Buffer;
}

/** The client says what no viewer says. */
export class ClientMessageError extends Error {}

/** Takes pieces as they come and gives whole messages; at most one unfinished message is kept. */
export class ClientMessages {
  #rest: Buffer = Buffer.alloc(0);

  /** Throws ClientMessageError; nothing may be taken afterwards. */
  take(piece: Buffer): ViewerMessage[] {
    let rest = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece]);
    const messages: ViewerMessage[] = [];
    for (;;) {
      const length = lengthOf(rest);
      if (length === undefined || rest.length < length) break;
      messages.push({ type: rest.readUInt8(0), bytes: rest.subarray(0, length) });
      rest = rest.subarray(length);
    }
    this.#rest = Buffer.from(rest);
    return messages;
  }
}

const FIXED: Readonly<Record<number, number>> = { 0: 20, 3: 10, [RFB.key]: 8, [RFB.pointer]: 6, 150: 10 };

/** Of the message that begins here; undefined while that cannot be said. */
function lengthOf(bytes: Buffer): number | undefined {
  if (bytes.length === 0) return undefined;
  const type = bytes.readUInt8(0);
  const fixed = FIXED[type];
  if (fixed !== undefined) return fixed;
  switch (type) {
    case 2:
      return bytes.length < 4 ? undefined : 4 + 4 * bounded(bytes.readUInt16BE(2), ENCODINGS_MAX, 'encodings');
    case RFB.cutText:
      // Negative: a clipboard with formats.
      return bytes.length < 8 ? undefined : 8 + bounded(Math.abs(bytes.readInt32BE(4)), CUT_TEXT_BYTES_MAX, 'bytes');
    case 248:
      return bytes.length < 9 ? undefined : 9 + bounded(bytes.readUInt8(8), FENCE_BYTES_MAX, 'bytes of a fence');
    case RFB.qemu:
      if (bytes.length >= 2 && bytes.readUInt8(1) !== EXTENDED_KEY)
        throw new ClientMessageError('message 255 is no key');
      return 12;
    default:
      throw new ClientMessageError(`message ${type} is not one of a viewer`);
  }
}

function bounded(count: number, max: number, what: string): number {
  if (count > max) throw new ClientMessageError(`${count} ${what}, at most ${max} are taken`);
  return count;
}

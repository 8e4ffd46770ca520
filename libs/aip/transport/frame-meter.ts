/*
 * How large a message is going to be, as soon as its first bytes are here: the header of a WebSocket frame (RFC 6455 5.2) says
 * the length of what follows, and a server that has read it can still decide whether it wants the rest.
 */

const FIN = 0x80;
const OPCODE = 0x0f;
const LENGTH = 0x7f;
const MASK_BYTES = 4;
const CONTROL = 0x08;
const HEADER_BYTES_MAX = 14;

/** Follows the bytes that a masked peer sends, frame by frame. It keeps nothing but a header that is not whole yet. */
export class FrameMeter {
  readonly #announced: (bytes: number) => void;
  readonly #header = Buffer.alloc(HEADER_BYTES_MAX);
  #headerBytes = 0;
  /** Of the frame that is under way. */
  #payloadLeft = 0;
  /** Of the message that is under way, in all frames of it so far. */
  #message = 0;

  /** `announced`: size of the message under way as far as it is announced, at the header of each of its frames. */
  constructor(announced: (bytes: number) => void) {
    this.#announced = announced;
  }

  take(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length;) {
      const skipped = Math.min(this.#payloadLeft, chunk.length - at);
      this.#payloadLeft -= skipped;
      at += skipped;
      if (at < chunk.length) this.#headerByte(chunk[at++] ?? 0);
    }
  }

  #headerByte(byte: number): void {
    this.#header[this.#headerBytes++] = byte;
    if (this.#headerBytes < 2) return;
    const [first = 0, second = 0] = this.#header;
    const short = second & LENGTH;
    const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0;
    const maskBytes = (second & FIN) === 0 ? 0 : MASK_BYTES;
    if (this.#headerBytes < 2 + lengthBytes + maskBytes) return;
    this.#headerBytes = 0;
    this.#payloadLeft = this.#lengthOf(short);
    if ((first & CONTROL) !== 0) return;
    if ((first & OPCODE) !== 0) this.#message = 0;
    this.#message += this.#payloadLeft;
    this.#announced(this.#message);
  }

  #lengthOf(short: number): number {
    if (short === 126) return this.#header.readUInt16BE(2);
    return short === 127 ? Number(this.#header.readBigUInt64BE(2)) : short;
  }
}

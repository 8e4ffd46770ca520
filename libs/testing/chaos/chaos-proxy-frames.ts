const HTTP_END = Buffer.from('\r\n\r\n');
/** Payload lengths that mean: the length stands in the next 2 or 8 bytes (RFC 6455, section 5.2). */
const LENGTH_16 = 126;
const LENGTH_64 = 127;
const MASK_BYTES = 4;
/** Opcodes from here on are close, ping and pong. */
const CONTROL = 8;

/** Follows one direction of a WebSocket connection from its first byte: knows where frames begin, and nothing of what is in them. */
export class FrameScan {
  #head: Buffer = Buffer.alloc(0);
  #upgraded = false;
  #size = 0;
  #left = 0;
  #isData = false;

  /**
   * To be called with every piece, in order. The place in it where the payload of a text or binary frame of at least
   * `bytesMin` bytes is half over; undefined when that is not in this piece.
   */
  middleIn(bytes: Buffer, bytesMin: number): number | undefined {
    let middle: number | undefined;
    let at = this.#upgraded ? 0 : this.#upgrade(bytes);
    while (at < bytes.length) {
      if (this.#left === 0) {
        at += this.#begin(bytes.subarray(at));
        continue;
      }
      const [taken, half] = [Math.min(this.#left, bytes.length - at), this.#size >> 1];
      const seen = this.#size - this.#left;
      if (this.#isData && this.#size >= bytesMin && half > seen && half <= seen + taken) middle ??= at + half - seen;
      this.#left -= taken;
      at += taken;
    }
    return middle;
  }

  /** Skips the HTTP request or answer that comes before the first frame. */
  #upgrade(bytes: Buffer): number {
    const before = this.#head.length;
    const all = Buffer.concat([this.#head, bytes]);
    const end = all.indexOf(HTTP_END);
    this.#upgraded = end >= 0;
    // Three bytes of it are enough to find an end that comes in two pieces.
    this.#head = this.#upgraded ? Buffer.alloc(0) : all.subarray(-HTTP_END.length + 1);
    return this.#upgraded ? end + HTTP_END.length - before : bytes.length;
  }

  /** Takes what belongs to the header of the next frame; gives the bytes that were taken. */
  #begin(bytes: Buffer): number {
    const before = this.#head.length;
    const head = Buffer.concat([this.#head, bytes.subarray(0, 2 + 8 + MASK_BYTES)]);
    const size = headerBytes(head);
    if (size === undefined || head.length < size) {
      this.#head = head;
      return head.length - before;
    }
    this.#head = Buffer.alloc(0);
    this.#size = this.#left = payloadBytes(head);
    this.#isData = ((head[0] ?? 0) & 0x0f) < CONTROL;
    return size - before;
  }
}

function headerBytes(head: Buffer): number | undefined {
  const second = head[1];
  if (second === undefined) return undefined;
  const length = second & 0x7f;
  const extended = length === LENGTH_64 ? 8 : length === LENGTH_16 ? 2 : 0;
  return 2 + extended + (second >= 0x80 ? MASK_BYTES : 0);
}

function payloadBytes(head: Buffer): number {
  const length = (head[1] ?? 0) & 0x7f;
  if (length === LENGTH_16) return head.readUInt16BE(2);
  return length === LENGTH_64 ? Number(head.readBigUInt64BE(2)) : length;
}

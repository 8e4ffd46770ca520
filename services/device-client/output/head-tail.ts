import { isUtf8 } from 'node:buffer';

/**
 * Keeps the beginning and the end of a stream in bounded memory, however it is cut into chunks: what people look for is
 * what a command said first and what it said last.
 */
export class HeadTail {
  #head: Buffer = Buffer.alloc(0);
  #headLength = 0;
  /** A ring; allocated only when the head is full. */
  #ring: Buffer | undefined;
  #ringEnd = 0;
  #total = 0;

  readonly #headBytesMax: number;
  readonly #tailBytesMax: number;

  constructor(headBytesMax: number, tailBytesMax: number) {
    this.#headBytesMax = headBytesMax;
    this.#tailBytesMax = tailBytesMax;
  }

  /** Bytes seen, kept or not. */
  get bytes(): number {
    return this.#total;
  }

  /** Whether so many bytes more leave nothing out. */
  holds(bytes: number): boolean {
    return this.#total + bytes <= this.#headBytesMax + this.#tailBytesMax;
  }

  /** Copies of all that was pushed, in order, as long as nothing was left out. */
  parts(): Buffer[] {
    const head = Buffer.from(this.#head.subarray(0, this.#headLength));
    const rest = this.#ring?.subarray(0, this.#total - this.#headLength);
    return rest === undefined ? [head] : [head, Buffer.from(rest)];
  }

  /** Whether the text is what was pushed, and not what is left of it where bytes are no characters. */
  get isText(): boolean {
    return !this.holds(0) || isUtf8(Buffer.concat(this.parts()));
  }

  push(chunk: Buffer): void {
    this.#total += chunk.length;
    const room = this.#headBytesMax - this.#headLength;
    if (room > 0) this.#growHead(chunk.subarray(0, room));
    if (chunk.length > room) this.#pushTail(chunk.subarray(room));
  }

  /** What was kept, as text; a gap is named with its size. */
  text(): string {
    const head = this.#head.subarray(0, this.#headLength);
    if (this.#ring === undefined) return head.toString('utf8');
    const omitted = this.#total - this.#headLength - this.#tailBytesMax;
    if (omitted <= 0) {
      return Buffer.concat([head, this.#ring.subarray(0, this.#total - this.#headLength)]).toString('utf8');
    }
    const tail = Buffer.concat([this.#ring.subarray(this.#ringEnd), this.#ring.subarray(0, this.#ringEnd)]);
    const first = withoutBrokenEnd(head);
    const last = withoutBrokenStart(tail);
    const gap = this.#total - first.length - last.length;
    return `${first.toString('utf8')}\n[... ${gap} bytes omitted ...]\n${last.toString('utf8')}`;
  }

  #growHead(part: Buffer): void {
    const length = this.#headLength + part.length;
    if (length > this.#head.length) {
      const grown = Buffer.allocUnsafe(Math.min(this.#headBytesMax, Math.max(4_096, length, this.#head.length * 2)));
      this.#head.copy(grown, 0, 0, this.#headLength);
      this.#head = grown;
    }
    part.copy(this.#head, this.#headLength);
    this.#headLength = length;
  }

  #pushTail(part: Buffer): void {
    this.#ring ??= Buffer.allocUnsafe(this.#tailBytesMax);
    const kept = part.subarray(Math.max(0, part.length - this.#tailBytesMax));
    // What the ring would not keep is skipped, but it moves the end as if it had been written.
    this.#ringEnd = (this.#ringEnd + part.length - kept.length) % this.#tailBytesMax;
    const untilWrap = Math.min(kept.length, this.#tailBytesMax - this.#ringEnd);
    kept.copy(this.#ring, this.#ringEnd, 0, untilWrap);
    kept.copy(this.#ring, 0, untilWrap);
    this.#ringEnd = (this.#ringEnd + kept.length) % this.#tailBytesMax;
  }
}

/** Of UTF-8: a byte that begins no character. */
export const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** A cut inside a character would read as a replacement mark that the command never wrote. */
function withoutBrokenEnd(bytes: Buffer): Buffer {
  let start = bytes.length - 1;
  while (start > bytes.length - 4 && isContinuation(bytes[start])) start--;
  const lead = bytes[start] ?? 0;
  const needed = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  return needed > bytes.length - start ? bytes.subarray(0, start) : bytes;
}

function withoutBrokenStart(bytes: Buffer): Buffer {
  let start = 0;
  while (start < 3 && isContinuation(bytes[start])) start++;
  return bytes.subarray(start);
}

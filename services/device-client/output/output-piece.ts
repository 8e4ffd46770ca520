import { isContinuation } from './head-tail.js';

/** What was written and not told yet, ready to be told. */
export interface PrintedPiece {
  /** Bytes of the stream before this piece. */
  readonly offset: number;
  readonly text: string;
}

const REPLACEMENT_BYTES_MAX = 3;

/**
 * One stream between two pieces: keeps the first bytes that came since the last piece and counts the rest, so that its
 * memory has a limit whatever a command writes. No piece begins or ends inside a character that the stream has whole.
 * A piece of n bytes has at most n UTF-16 units, so the limit in bytes is one in characters as well.
 */
export class PendingOutput {
  #kept: Buffer = Buffer.alloc(0);
  #length = 0;
  /** Where the kept bytes begin. */
  #offset = 0;
  #total = 0;
  /** Bytes before the next ones were left out: what is left of a character they began is not text. */
  #afterGap = false;

  readonly #bytesMax: number;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  push(chunk: Buffer): void {
    const start = this.#total;
    this.#total += chunk.length;
    const skipped = this.#afterGap ? continuationBytes(chunk) : 0;
    // Nothing of it when some was left out before: only what is full leaves something out.
    const part = chunk.subarray(skipped, skipped + this.#bytesMax - this.#length);
    if (this.#length === 0) this.#offset = start + skipped;
    if (part.length === 0) return;
    this.#afterGap = false;
    if (this.#kept.length === 0) this.#kept = Buffer.allocUnsafe(this.#bytesMax);
    part.copy(this.#kept, this.#length);
    this.#length += part.length;
  }

  /** The next piece, undefined when there is none; `last`: nothing follows, so half a character is all there is. */
  take(last: boolean): PrintedPiece | undefined {
    const hasGap = this.#total > this.#offset + this.#length;
    const rest = last && !hasGap ? 0 : incompleteBytes(this.#kept.subarray(0, this.#length));
    const bytes = this.#length - rest;
    const piece = { offset: this.#offset, text: this.#kept.toString('utf8', 0, bytes) };
    if (hasGap) {
      this.#length = 0;
      this.#offset = this.#total;
      this.#afterGap = true;
    } else {
      this.#kept.copyWithin(0, bytes, this.#length);
      this.#length = rest;
      this.#offset += bytes;
    }
    return bytes === 0 ? undefined : piece;
  }
}

function continuationBytes(bytes: Buffer): number {
  let count = 0;
  while (count < REPLACEMENT_BYTES_MAX && isContinuation(bytes[count])) count++;
  return count;
}

/** Bytes at the end that begin a character and do not end it. */
function incompleteBytes(bytes: Buffer): number {
  let back = 1;
  while (back <= REPLACEMENT_BYTES_MAX && isContinuation(bytes[bytes.length - back])) back++;
  const lead = bytes[bytes.length - back] ?? 0;
  const needed = lead >= 0xf8 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  return back < needed ? back : 0;
}

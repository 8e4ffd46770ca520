/** Messages of a pipe of DevTools: texts with a zero behind each. */

const END = 0;
/** The tree of a page of some 30,000 parts. */
const BYTES_MAX = 32 * 1024 * 1024;
const HEAD_BYTES = 64;

/** One message, or the first bytes of one that was too long to be kept. */
export type PipeMessage = { readonly text: string } | { readonly head: string };

/** Cuts what comes into messages. One that is too long is passed over, and the next ones are read. */
export class PipeMessages {
  readonly #bytesMax: number;
  #pieces: Buffer[] = [];
  #bytes = 0;

  constructor(bytesMax = BYTES_MAX) {
    this.#bytesMax = bytesMax;
  }

  append(chunk: Buffer): PipeMessage[] {
    const found: PipeMessage[] = [];
    let from = 0;
    for (let end = chunk.indexOf(END); end >= 0; end = chunk.indexOf(END, from)) {
      this.#take(chunk.subarray(from, end));
      found.push(this.#ended());
      from = end + 1;
    }
    this.#take(chunk.subarray(from));
    return found;
  }

  #take(piece: Buffer): void {
    this.#bytes += piece.length;
    if (piece.length > 0) this.#pieces.push(piece);
    if (this.#bytes > this.#bytesMax) this.#pieces = [Buffer.from(Buffer.concat(this.#pieces).subarray(0, HEAD_BYTES))];
  }

  #ended(): PipeMessage {
    const text = Buffer.concat(this.#pieces).toString('utf8');
    const isWhole = this.#bytes <= this.#bytesMax;
    this.#pieces = [];
    this.#bytes = 0;
    return isWhole ? { text } : { head: text };
  }
}

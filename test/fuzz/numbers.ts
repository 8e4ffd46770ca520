import { hold } from './subject.js';
import { binaryFrame } from './binary.js';
import { ACK, SEQ, type FuzzFrame } from './generator.js';

interface Numbered {
  readonly seq?: number | null | undefined;
  readonly ack?: number | null | undefined;
}

/** The numbers of one connection as a good peer counts them, and whether the endpoint counts them the same way. */
export class Numbers {
  /** Frames of the endpoint from here on have numbers; undefined while none has. */
  #from: number | undefined;
  #received = 0;
  #sent = 0;
  #acked = 0;

  /** Whatever the endpoint sends after its first `sent` frames has a number. */
  begin(sent: number): void {
    this.#from ??= sent;
  }

  get hasBegun(): boolean {
    return this.#from !== undefined;
  }

  /** Of the next frame to the endpoint. */
  get next(): number {
    return this.#received + 1;
  }

  /** The text with its placeholders filled; `sent`: frames of the endpoint so far. */
  filled(text: string | null, sent: number): string | null {
    const ack = this.#from === undefined ? 0 : Math.max(0, sent - this.#from);
    return text?.replaceAll(SEQ, String(this.next)).replaceAll(ACK, String(ack)) ?? null;
  }

  /** The frame as it comes: a text, or the bytes of a binary one. */
  frame({ text, binary }: Pick<FuzzFrame, 'text' | 'binary'>, sent: number): [string | null, Uint8Array | undefined] {
    const filled = this.filled(text, sent);
    return binary === undefined ? [filled, undefined] : [null, binaryFrame(filled ?? '', binary)];
  }

  isDuplicate(seq: number | null | undefined): boolean {
    return this.hasBegun && typeof seq === 'number' && seq <= this.#received;
  }

  /** Whether frame and acknowledgement are what a good peer would send; `sent`: frames of the endpoint so far. */
  isInOrder({ seq, ack }: Numbered, sent: number): boolean {
    return this.#from !== undefined && seq === this.next && (ack ?? 0) <= Math.max(0, sent - this.#from);
  }

  /** A frame was given to the endpoint while the session was open. One that cannot be read counts as one. */
  received(seq: number | null | undefined, { isReadable }: { readonly isReadable: boolean }): void {
    if (this.hasBegun && (!isReadable || seq === this.next)) this.#received++;
  }

  /** Frames that the endpoint has just sent: numbered without a gap, and acknowledging no more than there was. */
  check(sent: readonly Numbered[]): void {
    if (!this.hasBegun) {
      hold(
        sent.every(({ seq, ack }) => (seq ?? ack ?? null) === null),
        'a frame has a number that should have none',
      );
      return;
    }
    for (const { seq, ack } of sent) {
      // The confirmation itself has none.
      if (this.#sent === 0 && (seq ?? null) === null) continue;
      this.#sent++;
      hold(seq === this.#sent, `a frame has the number ${String(seq)}, ${this.#sent} was expected`);
      const taken = ack ?? -1;
      hold(taken >= this.#acked && taken <= this.#received, `${taken} is acknowledged, ${this.#received} frames came`);
      this.#acked = taken;
    }
  }
}

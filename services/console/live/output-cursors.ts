import type { OutputCursor } from '#proto';

interface Piece {
  readonly commandId: string;
  readonly stream: string;
  readonly offset: number;
  readonly text: string;
}

/** Takes from pieces what their reader has already. Nothing is left out that he has not, whatever bytes there are; pieces of a stream come in order. */
export class OutputCursors {
  readonly #known = new Map<string, { readonly offset: number; chars: number }>();

  constructor(cursors: readonly OutputCursor[]) {
    for (const { command, stream, offset, chars = 0 } of cursors)
      this.#known.set(keyOf(command, stream), { offset, chars });
  }

  /** What is new of it; an empty text when nothing is. */
  fresh<P extends Piece>(piece: P): P {
    const known = this.#known.get(keyOf(piece.commandId, piece.stream));
    if (known === undefined || piece.text === '') return piece;
    const rest = behind(piece, known.offset - piece.offset);
    const taken = Math.min(known.chars, rest.text.length);
    known.chars -= taken;
    const head = rest.text.slice(0, taken);
    return { ...rest, offset: rest.offset + Buffer.byteLength(head), text: rest.text.slice(taken) };
  }
}

/** Without its first bytes. */
function behind<P extends Piece>(piece: P, bytes: number): P {
  if (bytes <= 0) return piece;
  const all = Buffer.from(piece.text);
  return { ...piece, offset: piece.offset + Math.min(bytes, all.length), text: all.subarray(bytes).toString('utf8') };
}

const keyOf = (command: string, stream: string): string => `${command} ${stream}`;

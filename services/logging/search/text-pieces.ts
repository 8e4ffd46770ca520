/** A piece has room for many lines. */
const PIECE_UNITS = 64 * 1024;
/** The end of a piece is the beginning of the next one, too: words that stand one behind the other are together in one of them. */
const OVERLAP_UNITS = 1_024;
const SPACE = /\s/u;

/** Makes pieces of a text that comes as bytes, none of which begins or ends within a word. */
export class TextPieces {
  readonly #decoder = new TextDecoder();
  #text = '';

  /** The pieces that are full with it. */
  push(data: Uint8Array): string[] {
    this.#text += this.#decoder.decode(data, { stream: true });
    const pieces: string[] = [];
    while (this.#text.length > PIECE_UNITS) {
      const end = betweenWords(this.#text, PIECE_UNITS);
      pieces.push(this.#text.slice(0, end));
      this.#text = this.#text.slice(betweenWords(this.#text, end - OVERLAP_UNITS));
    }
    return pieces;
  }

  /** What is left; nothing comes behind it. */
  end(): string[] {
    const rest = this.#text + this.#decoder.decode();
    this.#text = '';
    return rest === '' ? [] : [rest];
  }
}

/** Behind the nearest space before that place; just there where a word is longer than anybody looks for. */
function betweenWords(text: string, at: number): number {
  for (let end = at; end > at - OVERLAP_UNITS; end--) if (SPACE.test(text.charAt(end - 1))) return end;
  return at;
}

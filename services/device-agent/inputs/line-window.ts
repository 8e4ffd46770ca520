/** Which part of a text is read. Lines and bytes count from its beginning. */
export interface Wanted {
  /** From 1. */
  readonly fromLine: number;
  readonly lines: number;
  /** Only lines that contain this text; they are then counted alone. */
  readonly containing?: string | undefined;
  /** From 0; then lines do not count. */
  readonly fromByte?: number | undefined;
}

const TEXT_CHARS_MAX = 64 * 1024;
const LINES_MAX = 2_000;
/** Of a longer line nobody is shown more, and no text is looked for in the rest. */
const LINE_CHARS_MAX = 1024 * 1024;

/** Takes a text of any length in pieces and keeps what is wanted of it. */
export class LineWindow {
  readonly #wanted: Wanted;
  readonly #from: number;
  readonly #to: number;
  readonly #decoder = new TextDecoder();
  #line = '';
  /** Something of the line that is being read has come. */
  #begun = false;
  #counted = 0;
  #bytes = 0;
  readonly #kept: string[] = [];
  #keptChars = 0;

  constructor(wanted: Wanted) {
    this.#wanted = wanted;
    this.#from = Math.max(1, Math.trunc(wanted.fromLine));
    this.#to = this.#from + Math.min(Math.max(0, Math.trunc(wanted.lines)), LINES_MAX);
  }

  push(piece: Uint8Array): void {
    const { fromByte } = this.#wanted;
    const text = this.#decoder.decode(this.#fromByte(piece, fromByte), { stream: true });
    this.#bytes += piece.length;
    if (fromByte !== undefined) this.#keep(text, '');
    this.#split(text);
  }

  /** What was wanted, and how many lines there are: of those that contain the text, where one is looked for. */
  end(): { readonly text: string; readonly totalLines: number } {
    this.#split(this.#decoder.decode());
    if (this.#begun) this.#endLine();
    const separator = this.#wanted.fromByte === undefined ? '\n' : '';
    return { text: this.#kept.join(separator).slice(0, TEXT_CHARS_MAX).toWellFormed(), totalLines: this.#counted };
  }

  #fromByte(piece: Uint8Array, fromByte: number | undefined): Uint8Array {
    if (fromByte === undefined || this.#bytes >= fromByte) return piece;
    return piece.subarray(Math.min(piece.length, fromByte - this.#bytes));
  }

  #split(text: string): void {
    let start = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      this.#grow(text.slice(start, end));
      this.#endLine();
      start = end + 1;
    }
    if (start < text.length) this.#grow(text.slice(start));
  }

  #grow(part: string): void {
    this.#begun = true;
    if (this.#line.length < LINE_CHARS_MAX) this.#line += part.slice(0, LINE_CHARS_MAX - this.#line.length);
  }

  #endLine(): void {
    const line = this.#line;
    this.#line = '';
    this.#begun = false;
    const { containing, fromByte } = this.#wanted;
    if (containing !== undefined && !line.includes(containing)) return;
    this.#counted++;
    if (fromByte === undefined && this.#counted >= this.#from && this.#counted < this.#to) this.#keep(line, '\n');
  }

  #keep(text: string, separator: string): void {
    if (this.#keptChars >= TEXT_CHARS_MAX) return;
    const part = text.slice(0, TEXT_CHARS_MAX - this.#keptChars);
    this.#kept.push(part);
    this.#keptChars += part.length + separator.length;
  }
}

import { fileText } from '#proto';
import { OutputLines } from './output-lines.js';
import type { RecordedStream } from './kept-output.adapter.js';
import { placeOfOutput } from './recorded-commands.js';
import type { RecordedItem } from './recorded-item.js';

/** One line for people. What it says is text of a device: not yet clean. */
export interface PlacedLine {
  /** Null: something that is said about the output. */
  readonly stream: RecordedStream | null;
  /** `web/1/2.0 stdout |`, or with the number of the line where it was looked for; empty where only one command wrote. */
  readonly label: string;
  readonly text: string;
}

export interface RecordedLinesOptions {
  /** Only one command is shown: its lines need no place. */
  readonly isAlone: boolean;
  /** Lines around those that match are shown, too: groups are set apart. */
  readonly hasContext?: boolean;
}

type Piece = Extract<RecordedItem, { type: 'output' }>;
type Found = Extract<RecordedItem, { type: 'line' }>;

/** Makes lines of what is recorded, for a terminal, a pipe or an answer over HTTP. */
export class RecordedLines {
  readonly #options: RecordedLinesOptions;
  readonly #joined = new OutputLines();
  #open: Piece | undefined;
  #before: Found | undefined;

  constructor(options: RecordedLinesOptions) {
    this.#options = options;
  }

  /** The lines that this item ends. */
  push(item: RecordedItem): PlacedLine[] {
    if (item.type === 'output') return this.#pieceLines(item);
    const ended = this.end();
    if (item.type === 'note') return [...ended, { stream: null, label: '', text: item.text }];
    if (item.type === 'file') {
      return [...ended, { stream: null, label: '', text: `${placeOfOutput(item)} file ${fileText(item.file)}` }];
    }
    return item.type === 'line' ? [...ended, ...this.#foundLines(item)] : ended;
  }

  /** Half a line is all there is. */
  end(): PlacedLine[] {
    const open = this.#open;
    const lines = this.#joined.flush();
    this.#open = undefined;
    return open === undefined ? [] : lines.map(({ text }) => this.#lineOf(open, text));
  }

  #pieceLines(item: Piece): PlacedLine[] {
    const isSame = this.#open !== undefined && streamOf(this.#open) === streamOf(item);
    const ended = isSame ? [] : this.end();
    this.#open = item;
    const { taskId, stream, offset, text } = item;
    const lines = this.#joined.push({ commandId: placeOfOutput(item), taskId, stream, offset, text });
    return [...ended, ...lines.map((line) => this.#lineOf(item, line.text))];
  }

  #lineOf(item: Piece, text: string): PlacedLine {
    return { stream: item.stream, label: this.#options.isAlone ? '' : `${streamOf(item)} |`, text };
  }

  /** As `grep -n` has them. */
  #foundLines(item: Found): PlacedLine[] {
    const { stream, line, match, text } = item;
    const before = this.#before;
    const isNext = before !== undefined && streamOf(before) === streamOf(item) && before.line + 1 === line;
    const isApart = this.#options.hasContext === true && before !== undefined && !isNext;
    this.#before = item;
    const alone = stream === 'stderr' ? 'stderr ' : '';
    const place = this.#options.isAlone ? alone : `${streamOf(item)} `;
    const found = { stream, label: `${place}${line}${match ? ':' : '-'}`, text };
    return isApart ? [{ stream, label: '--', text: '' }, found] : [found];
  }
}

const streamOf = (item: Piece | Found): string => `${placeOfOutput(item)} ${item.stream}`;

import type { TaskId } from '#proto';
import { endOfPiece, gapText, type StreamPiece } from './output-piece.js';

/** One line of what a task writes, as it was written: not yet clean. */
export interface OutputLine {
  readonly taskId: TaskId;
  readonly stream: StreamPiece['stream'];
  readonly text: string;
}

const OUTPUT_LINE_LIMITS = {
  /** A longer line is shown as several. */
  charsMax: 8 * 1024,
  /** Streams of which something is remembered; the one that was silent for longest is forgotten first. */
  streamsMax: 256,
} as const;

interface Stream {
  readonly taskId: TaskId;
  readonly name: StreamPiece['stream'];
  /** A line without its end, at most `charsMax` long. */
  rest: string;
  /** The last line ended with a carriage return: a line feed behind it is the same end. */
  afterReturn: boolean;
  /** Bytes that were shown or are known to be missing. */
  end: number;
}

/**
 * Makes lines out of pieces, for each command and stream by itself. A line ends with a line feed, a carriage return (how
 * progress is written over itself), or both; what cuts the text into pieces makes no difference.
 */
export class OutputLines {
  readonly #limits: { readonly charsMax: number; readonly streamsMax: number };
  /** In the order in which they last wrote. */
  readonly #streams = new Map<string, Stream>();

  constructor(limits: { readonly charsMax: number; readonly streamsMax: number } = OUTPUT_LINE_LIMITS) {
    this.#limits = limits;
  }

  /** The lines that this piece ends, and before them one for what is missing. */
  push(piece: StreamPiece): OutputLine[] {
    const { commandId, taskId, stream: name, offset, text } = piece;
    const key = `${commandId} ${name}`;
    const known = this.#streams.get(key);
    const lines: OutputLine[] = known === undefined ? this.#makeRoom() : [];
    const stream = known ?? { taskId, name, rest: '', afterReturn: false, end: 0 };
    this.#streams.delete(key);
    this.#streams.set(key, stream);
    if (offset > stream.end) {
      lines.push(...restOf(stream), lineOf(stream, gapText(offset - stream.end)));
      stream.afterReturn = false;
    }
    stream.end = endOfPiece(piece);
    lines.push(...this.#take(stream, text));
    return lines;
  }

  /** The lines that have no end yet, of one task or of all: nothing more is expected. */
  flush(taskId?: TaskId): OutputLine[] {
    return [...this.#streams.values()].flatMap((stream) =>
      taskId === undefined || stream.taskId === taskId ? restOf(stream) : [],
    );
  }

  #take(stream: Stream, text: string): OutputLine[] {
    if (text === '') return [];
    const goesOn = stream.afterReturn && text.startsWith('\n') ? text.slice(1) : text;
    stream.afterReturn = text.endsWith('\r');
    const ended = `${stream.rest}${goesOn}`.split(/\r\n|\r|\n/u);
    const open = foldAt(ended.pop() ?? '', this.#limits.charsMax);
    stream.rest = open.pop() ?? '';
    const texts = [...ended.flatMap((line) => foldAt(line, this.#limits.charsMax)), ...open];
    return texts.map((line) => lineOf(stream, line));
  }

  #makeRoom(): OutputLine[] {
    if (this.#streams.size < this.#limits.streamsMax) return [];
    const [oldest] = this.#streams;
    if (oldest === undefined) return [];
    const [key, stream] = oldest;
    this.#streams.delete(key);
    return restOf(stream);
  }
}

const lineOf = ({ taskId, name }: Stream, text: string): OutputLine => ({ taskId, stream: name, text });

function restOf(stream: Stream): OutputLine[] {
  const { rest } = stream;
  stream.rest = '';
  return rest === '' ? [] : [lineOf(stream, rest)];
}

/** At least one text; all but the last are full. No character is cut in two. */
function foldAt(line: string, charsMax: number): string[] {
  const parts: string[] = [];
  let from = 0;
  while (line.length - from > charsMax) {
    const to = from + charsMax - (cutsPair(line, from + charsMax) ? 1 : 0);
    parts.push(line.slice(from, to));
    from = to;
  }
  return [...parts, line.slice(from)];
}

function cutsPair(text: string, at: number): boolean {
  return isHigh(text.charCodeAt(at - 1)) && isLow(text.charCodeAt(at));
}

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

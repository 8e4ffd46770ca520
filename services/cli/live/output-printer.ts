import type { TaskId } from '#proto';
import { endOfPiece, gapText, OutputLines, type OutputLine, type TaskOutputPiece } from '#libs/output';
import { cleanOutput, outputJson } from './output-text.js';
import type { Terminal } from '../terminal/index.js';

/** Where pieces of output go while a run is followed. */
export interface OutputPrinter {
  /** All that is written is wanted, in order: what does not come live comes from the record. Else the newest counts. */
  readonly isWhole: boolean;
  /** Resolves when more is welcome: a slow reader is waited for. */
  piece(piece: TaskOutputPiece): Promise<void> | void;
  /** Nothing more is expected of the task, or of any: half a line is all there is. */
  flush(taskId?: TaskId): void;
}

export function linePrinter(print: (lines: readonly OutputLine[]) => void, isWhole = true): OutputPrinter {
  const joined = new OutputLines();
  const say = (lines: readonly OutputLine[]): void => {
    if (lines.length > 0) print(lines);
  };
  return { isWhole, piece: (piece) => say(joined.push(piece)), flush: (taskId) => say(joined.flush(taskId)) };
}

/** One JSON object per piece, as it came. */
export function jsonPrinter(terminal: Pick<Terminal, 'out'>): OutputPrinter {
  // What only says how long a stream was has no text.
  const piece = (one: TaskOutputPiece): void => (one.text === '' ? undefined : terminal.out(outputJson(one)));
  return { isWhole: true, piece, flush: () => {} };
}

/**
 * What one task writes, for a pipe or a file: its standard output as it is. Its standard error goes to ours, which may be
 * somebody's terminal: in clean lines.
 */
export function rawPrinter(terminal: Pick<Terminal, 'bytes' | 'err'>): OutputPrinter {
  const errors = linePrinter((lines) => lines.forEach(({ text }) => terminal.err(cleanOutput(text))));
  let commandId: string | undefined;
  let shown = 0;
  let atLineStart = true;
  const write = async (text: string): Promise<void> => {
    if (text === '') return;
    atLineStart = text.endsWith('\n');
    await terminal.bytes(Buffer.from(text));
  };
  return {
    isWhole: true,
    piece: async (piece) => {
      // A file of what a task writes holds nothing of what its agent thinks.
      if (piece.stream === 'thought') return;
      if (piece.stream === 'stderr') return errors.piece(piece);
      if (piece.commandId !== commandId) [commandId, shown] = [piece.commandId, 0];
      if (piece.offset > shown) await write(`${atLineStart ? '' : '\n'}${gapText(piece.offset - shown)}\n`);
      shown = endOfPiece(piece);
      await write(piece.text);
    },
    flush: (taskId) => errors.flush(taskId),
  };
}

/** Lines that nobody has read yet pile up in memory: after so many characters their reader is waited for. */
const UNREAD_CHARS_MAX = 64 * 1024;

/** A terminal that says when it should be waited for. */
export class Paced {
  readonly #terminal: Pick<Terminal, 'bytes'>;
  #unread = 0;

  constructor(terminal: Pick<Terminal, 'bytes'>) {
    this.#terminal = terminal;
  }

  /** Resolves when so much may be printed as was printed. */
  async printed(chars: number): Promise<void> {
    this.#unread += chars;
    if (this.#unread <= UNREAD_CHARS_MAX) return;
    this.#unread = 0;
    await this.#terminal.bytes(new Uint8Array());
  }
}

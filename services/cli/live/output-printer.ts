import type { CommandId, TaskId } from '#proto';
import { OutputLines, type OutputLine } from './output-lines.js';
import { endOfPiece, gapText, type TaskOutputPiece } from './output-piece.js';
import { cleanOutput, outputJson } from './output-text.js';
import type { Terminal } from '../terminal/index.js';

/** Where pieces of output go while a run is followed. */
export interface OutputPrinter {
  piece(piece: TaskOutputPiece): void;
  /** Nothing more is expected of the task, or of any: half a line is all there is. */
  flush(taskId?: TaskId): void;
}

export function linePrinter(print: (lines: readonly OutputLine[]) => void): OutputPrinter {
  const joined = new OutputLines();
  const say = (lines: readonly OutputLine[]): void => {
    if (lines.length > 0) print(lines);
  };
  return { piece: (piece) => say(joined.push(piece)), flush: (taskId) => say(joined.flush(taskId)) };
}

/** One JSON object per piece, as it came. */
export function jsonPrinter(terminal: Pick<Terminal, 'out'>): OutputPrinter {
  return { piece: (piece) => terminal.out(outputJson(piece)), flush: () => {} };
}

/** What may wait for a reader that is slow; pieces that come meanwhile are left out, and that is shown. */
export const WAITING_BYTES_MAX = 4 * 1024 * 1024;

/**
 * What one task writes, for a pipe or a file: its standard output as it is. Its standard error goes to ours, which may be
 * somebody's terminal: in clean lines.
 */
export function rawPrinter(terminal: Pick<Terminal, 'bytes' | 'err'>): OutputPrinter {
  const errors = linePrinter((lines) => lines.forEach(({ text }) => terminal.err(cleanOutput(text))));
  let commandId: CommandId | undefined;
  let waiting = 0;
  let shown = 0;
  let seen = 0;
  let atLineStart = true;
  const write = (text: string): void => {
    const data = Buffer.from(text);
    waiting += data.length;
    atLineStart = text.endsWith('\n');
    void terminal.bytes(data).finally(() => (waiting -= data.length));
  };
  const showGap = (to: number): void => {
    if (to > shown) write(`${atLineStart ? '' : '\n'}${gapText(to - shown)}\n`);
    shown = to;
  };
  return {
    piece: (piece) => {
      // A file of what a task writes holds nothing of what its agent thinks.
      if (piece.stream === 'thought') return;
      if (piece.stream === 'stderr') return errors.piece(piece);
      if (piece.commandId !== commandId) {
        showGap(seen);
        commandId = piece.commandId;
        shown = 0;
      }
      seen = endOfPiece(piece);
      if (piece.text === '' || waiting > WAITING_BYTES_MAX) return;
      showGap(Math.max(shown, piece.offset));
      write(piece.text);
      shown = seen;
    },
    flush: (taskId) => {
      errors.flush(taskId);
      showGap(Math.max(shown, seen));
    },
  };
}

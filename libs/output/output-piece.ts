import { attemptOfCommand, OutputChunk, parseWith, subjects, parseJson, type TaskId } from '#proto';
import type { RecordedStream } from './kept-output.adapter.js';

/** One piece of what a task writes while it runs. */
export interface TaskOutputPiece extends OutputChunk {
  readonly taskId: TaskId;
  readonly attempt: number;
}

/** A piece of one stream of one writer, and where in it it begins: all that lines are made of. */
export interface StreamPiece {
  /** Who writes: what another one writes is never joined with it. */
  readonly commandId: string;
  readonly taskId: TaskId;
  readonly stream: OutputChunk['stream'] | RecordedStream;
  readonly offset: number;
  readonly text: string;
}

/** Undefined for what is no piece of the command whose subject it came on. */
export function parsePiece(subject: string, data: Uint8Array): TaskOutputPiece | undefined {
  const parsed = parseWith(OutputChunk, parseJson(data));
  if (!parsed.ok || subjects.output(parsed.value.commandId) !== subject) return undefined;
  const key = attemptOfCommand(parsed.value.commandId);
  return key === undefined ? undefined : { ...parsed.value, taskId: key.taskId, attempt: key.attempt };
}

/**
 * Bytes of the stream up to the end of this piece, at most: bytes that are no text were replaced by a character of three,
 * so a piece with such characters may end sooner. A gap is therefore never seen where there is none.
 */
export function endOfPiece({ offset, text }: Pick<OutputChunk, 'offset' | 'text'>): number {
  return offset + Buffer.byteLength(text);
}

/** Stands where pieces were left out, or before the first one that came: live output is stored nowhere. */
export function gapText(bytes: number): string {
  return `[... ${bytes} bytes not shown ...]`;
}

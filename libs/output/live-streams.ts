import type { CommandId, TaskId } from '#proto';
import { endOfPiece, type TaskOutputPiece } from './output-piece.js';

/** What is to be done with a piece: shown; left, because it was shown or its command has ended; or held, because something before it is missing. */
export type PieceVerdict = 'show' | 'known' | 'held';

/** The last piece of a stream that was shown. */
export type LastPiece = Pick<TaskOutputPiece, 'offset' | 'text'>;

interface LiveStream {
  readonly taskId: TaskId;
  last: LastPiece;
  isHeld: boolean;
}

/**
 * What has been shown of each stream of the commands that run: nothing twice, however often a piece comes, and with `isWhole` nothing behind a
 * gap, because what is missing comes from the record when the command has ended. Pieces of one stream come in order, or again.
 */
export class LiveStreams {
  readonly #isWhole: boolean;
  readonly #streams = new Map<string, LiveStream>();
  readonly #ended = new Map<TaskId, number>();

  constructor({ isWhole }: { readonly isWhole: boolean }) {
    this.#isWhole = isWhole;
  }

  take(piece: TaskOutputPiece): PieceVerdict {
    const { taskId, attempt, offset, text } = piece;
    if (this.hasEnded(taskId, attempt)) return 'known';
    const key = keyOf(piece);
    const known = this.#streams.get(key);
    if (known !== undefined && offset <= known.last.offset && known.last.text !== '') return 'known';
    // What a model thinks is recorded in other words: there is nothing to wait for.
    const isGap =
      this.#isWhole && piece.stream !== 'thought' && offset > (known === undefined ? 0 : endOfPiece(known.last));
    if (known?.isHeld === true || isGap) {
      if (known === undefined) this.#streams.set(key, { taskId, last: { offset: 0, text: '' }, isHeld: true });
      else known.isHeld = true;
      return 'held';
    }
    this.#streams.set(key, { taskId, last: { offset, text }, isHeld: false });
    return 'show';
  }

  isHeld(of: Pick<TaskOutputPiece, 'commandId' | 'stream'>): boolean {
    return this.#streams.get(keyOf(of))?.isHeld === true;
  }

  /** Whether it is held, and behind all that was shown. */
  isBehind(piece: TaskOutputPiece): boolean {
    const known = this.#streams.get(keyOf(piece));
    return known?.isHeld === true && (known.last.text === '' || piece.offset > known.last.offset);
  }

  /** Whether something of this task is held that is none of these streams. */
  holdsOf(taskId: TaskId, besides: ReadonlySet<string>): boolean {
    return [...this.#streams].some(([key, stream]) => stream.taskId === taskId && stream.isHeld && !besides.has(key));
  }

  last(of: { readonly commandId: CommandId; readonly stream: string }): LastPiece | undefined {
    return this.#streams.get(keyOf(of))?.last;
  }

  hasEnded(taskId: TaskId, attempt: number): boolean {
    return attempt <= (this.#ended.get(taskId) ?? 0);
  }

  /** Nothing of this attempt, or of one before it, is live any more. */
  end(taskId: TaskId, attempt: number): void {
    this.#ended.set(taskId, Math.max(attempt, this.#ended.get(taskId) ?? 0));
    for (const [key, stream] of this.#streams) if (stream.taskId === taskId) this.#streams.delete(key);
  }
}

const keyOf = ({ commandId, stream }: { readonly commandId: CommandId; readonly stream: string }): string =>
  `${commandId} ${stream}`;

import type { Tell } from '#libs/mcp';
import { AIP_LIMITS } from '#proto';
import { PendingOutput } from './output-piece.js';

export type PipeName = 'stdout' | 'stderr';

/**
 * Tells what one stream of a running command writes, one piece at a time and at most every `outputEveryMs`. What comes
 * faster is counted and left out: a command that writes 100 MB costs its listeners no more than one that writes a line.
 */
export class OutputFeed {
  readonly #pending = new PendingOutput(AIP_LIMITS.outputChunkCharsMax);
  #timer: NodeJS.Timeout | undefined;
  #telling = false;

  readonly #stream: PipeName;
  readonly #tell: Tell;

  constructor(stream: PipeName, tell: Tell) {
    this.#stream = stream;
    this.#tell = tell;
  }

  push(chunk: Buffer): void {
    this.#pending.push(chunk);
    this.#arm();
  }

  /** The stream has ended: what is left is told at once, before the command's result. */
  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#tellNext(true);
  }

  #arm(): void {
    // The wait comes first: most commands are over before it is, and say all they have to say in their results.
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      if (this.#telling) this.#arm();
      else this.#tellNext(false);
    }, AIP_LIMITS.outputEveryMs);
  }

  #tellNext(last: boolean): void {
    const piece = this.#pending.take(last);
    if (piece === undefined) return;
    this.#telling = true;
    void this.#tell({ stream: this.#stream, ...piece }).finally(() => {
      this.#telling = false;
    });
  }
}

import type { RunId } from '#proto';
import { isTerminal, type Run } from '#libs/constellation';

export interface CachedRun {
  readonly run: Run;
  /** Bytes of the commits it was folded from: about what it occupies. */
  readonly bytes: number;
}

/** Folded runs by least recent use, bounded by the bytes of what they were folded from. Holds no run that has ended. */
export class RunCache {
  readonly #runs = new Map<RunId, CachedRun>();
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** The run after commit `number`; undefined also when the one held here is another state of it. */
  get(runId: RunId, number: number): CachedRun | undefined {
    const found = this.#runs.get(runId);
    return found?.run.number === number ? found : undefined;
  }

  put(cached: CachedRun): void {
    const { runId } = cached.run;
    this.drop(runId);
    if (isTerminal(cached.run)) return;
    this.#runs.set(runId, cached);
    this.#bytes += cached.bytes;
    for (const [oldest] of this.#runs) {
      if (this.#bytes <= this.#bytesMax) return;
      this.drop(oldest);
    }
  }

  drop(runId: RunId): void {
    this.#bytes -= this.#runs.get(runId)?.bytes ?? 0;
    this.#runs.delete(runId);
  }

  get size(): number {
    return this.#runs.size;
  }
}

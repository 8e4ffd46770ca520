import type { RunCommit, RunId } from '#proto';

/** All commits of a run up to one of them. */
export interface HeldRun {
  readonly commits: readonly RunCommit[];
  readonly bytes: number;
}

/** Commits of runs that have not ended, by least recent use, bounded by their bytes: what is forgotten is read again when it is needed. */
export class OpenRuns {
  readonly #runs = new Map<RunId, HeldRun>();
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** The run as it is before its commit `number`; undefined also when another state of it is held. */
  before(runId: RunId, number: number): HeldRun | undefined {
    if (number === 1) return { commits: [], bytes: 0 };
    const held = this.#runs.get(runId);
    return held?.commits.at(-1)?.number === number - 1 ? held : undefined;
  }

  put(runId: RunId, held: HeldRun): void {
    this.drop(runId);
    this.#runs.set(runId, held);
    this.#bytes += held.bytes;
    for (const oldest of this.#runs.keys()) {
      if (this.#bytes <= this.#bytesMax) return;
      this.drop(oldest);
    }
  }

  drop(runId: RunId): void {
    this.#bytes -= this.#runs.get(runId)?.bytes ?? 0;
    this.#runs.delete(runId);
  }
}

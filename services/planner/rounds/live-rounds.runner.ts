import type { RunId } from '#proto';

/** How long a replica that stops waits for models. */
const ABANDON_MS = 3_000;

/** One piece of work that somebody waits for a model with. */
export interface LiveRound {
  /** Its run may have moved. */
  nudge(): void;
  /** This replica stops. */
  abandon(): void;
}

/** What this replica works on, by run. Work on one run is done one after the other: the second would ask what the first one asks. */
export class LiveRounds {
  readonly #live = new Map<RunId, LiveRound>();
  readonly #last = new Map<RunId, Promise<unknown>>();
  readonly #abandoned = new AbortController();
  #leaving: NodeJS.Timeout | undefined;

  /** Runs that something is done for, or waits to be. */
  get size(): number {
    return this.#last.size;
  }

  /** Aborted when nothing is waited for any more. */
  get signal(): AbortSignal {
    return this.#abandoned.signal;
  }

  /** After everything of the same run that came before. */
  async inTurn<T>(runId: RunId, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(runId) ?? Promise.resolve();
    const mine = before.then(work, work);
    const settled = mine.catch(() => undefined);
    this.#last.set(runId, settled);
    try {
      return await mine;
    } finally {
      if (this.#last.get(runId) === settled) this.#last.delete(runId);
    }
  }

  /** What it returns is called when nobody waits any more. */
  enter(runId: RunId, round: LiveRound): () => void {
    this.#live.set(runId, round);
    if (this.signal.aborted) round.abandon();
    return () => void this.#live.delete(runId);
  }

  /** Somebody has seen a commit of the run. */
  moved(runId: RunId): void {
    this.#live.get(runId)?.nudge();
  }

  /** This replica stops: models that were asked have a while. */
  leave(): void {
    this.#leaving = setTimeout(() => this.end(), ABANDON_MS);
  }

  /** Nothing is waited for any more; what comes after this is abandoned as soon as it begins, and left to another replica. */
  end(): void {
    clearTimeout(this.#leaving);
    this.#abandoned.abort();
    for (const round of this.#live.values()) round.abandon();
  }
}

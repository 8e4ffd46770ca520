import type { RunId } from '#proto';

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
  #closed = false;

  /** Runs that something is done for, or waits to be. */
  get size(): number {
    return this.#last.size;
  }

  get isClosed(): boolean {
    return this.#closed;
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

  begin(runId: RunId, round: LiveRound): void {
    this.#live.set(runId, round);
    if (this.#closed) round.abandon();
  }

  end(runId: RunId): void {
    this.#live.delete(runId);
  }

  /** Somebody has seen a commit of the run. */
  moved(runId: RunId): void {
    this.#live.get(runId)?.nudge();
  }

  /** Nothing is waited for any more; what comes after this is abandoned as soon as it begins. */
  shutDown(): void {
    this.#closed = true;
    for (const round of this.#live.values()) round.abandon();
  }
}

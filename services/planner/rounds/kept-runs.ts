import type { RunId } from '#proto';
import type { ReadRun } from './followed-run.adapter.js';
import type { Loaded } from '#libs/event-log';
import type { StoredPlan } from './plan-commits.adapter.js';

/** What a replica has read of a run and its plans. Nobody changes it: who reads on gets another one. */
export interface KeptRun {
  readonly read: ReadRun;
  readonly plan: Loaded<StoredPlan>;
}

export interface KeptLimits {
  readonly runsMax: number;
  /** Of the commits of all runs that are kept and of their plans, as JSON. */
  readonly bytesMax: number;
}

/**
 * Runs that were read for a round, so that the next round of the same run reads only what has come since: a cache of facts, of which any
 * may be missing at any time. What would be too much goes in the order in which it was last put; a run that is too large by itself
 * is never kept, and drives out no others.
 */
export class KeptRuns {
  readonly #limits: KeptLimits;
  /** The one that was put last is the last one. */
  readonly #kept = new Map<RunId, KeptRun>();
  #bytes = 0;

  constructor(limits: KeptLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#kept.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(runId: RunId): KeptRun | undefined {
    return this.#kept.get(runId);
  }

  /** In place of what was kept of the run before. */
  put(runId: RunId, kept: KeptRun): void {
    const { runsMax, bytesMax } = this.#limits;
    this.letGo(runId);
    if (bytesOf(kept) > bytesMax) return;
    this.#kept.set(runId, kept);
    this.#bytes += bytesOf(kept);
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= runsMax && this.#bytes <= bytesMax) return;
      this.letGo(oldest);
    }
  }

  letGo(runId: RunId): void {
    const kept = this.#kept.get(runId);
    if (kept === undefined) return;
    this.#kept.delete(runId);
    this.#bytes -= bytesOf(kept);
  }
}

function bytesOf({ read, plan }: KeptRun): number {
  return read.bytes + plan.state.bytes;
}

import type { DeviceId, RunId } from '#proto';

/** Runs with ready tasks and no device for them, per device they wait for, in the order they began to wait. */
export class Starved {
  readonly #needs = new Map<RunId, ReadonlySet<string>>();
  readonly #waiting = new Map<string, Set<RunId>>();

  /** What the run waits for now, in place of what it waited for before; it keeps its place where it waits already. */
  set(runId: RunId, needs: ReadonlySet<string>): void {
    for (const need of this.#needs.get(runId) ?? []) if (!needs.has(need)) this.#leave(runId, need);
    if (needs.size === 0) {
      this.#needs.delete(runId);
      return;
    }
    this.#needs.set(runId, needs);
    for (const need of needs) {
      const waiting = this.#waiting.get(need) ?? new Set();
      this.#waiting.set(need, waiting.add(runId));
    }
  }

  remove(runId: RunId): void {
    this.set(runId, new Set());
  }

  /** The first of those that wait for this, at most so many; they wait no more until they say so again. */
  take(need: DeviceId, count: number): RunId[] {
    const taken = [...(this.#waiting.get(need) ?? [])].slice(0, Math.max(0, count));
    for (const runId of taken) this.remove(runId);
    return taken;
  }

  #leave(runId: RunId, need: string): void {
    const waiting = this.#waiting.get(need);
    waiting?.delete(runId);
    if (waiting?.size === 0) this.#waiting.delete(need);
  }
}

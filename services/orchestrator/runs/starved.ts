import type { DeviceId, RunId } from '#proto';

/** Runs that wait for one thing: a higher priority first, and among equals who has waited longest. */
class Queue {
  readonly #byPriority = new Map<number, Set<RunId>>();
  /** Woken for a free slot and not decided since: the slot is kept for them. */
  readonly granted = new Set<RunId>();

  get isIdle(): boolean {
    return this.#byPriority.size === 0 && this.granted.size === 0;
  }

  add(runId: RunId, priority: number): void {
    const runs = this.#byPriority.get(priority) ?? new Set();
    this.#byPriority.set(priority, runs.add(runId));
  }

  remove(runId: RunId): void {
    for (const [priority, runs] of this.#byPriority) {
      if (runs.delete(runId) && runs.size === 0) this.#byPriority.delete(priority);
    }
  }

  /** Runs that come before one, whether it waits here or would be the last of its priority. */
  ahead(runId: RunId, ofPriority: number): number {
    let count = 0;
    for (const [priority, runs] of this.#byPriority) {
      if (priority < ofPriority) continue;
      count += priority === ofPriority && runs.has(runId) ? [...runs].indexOf(runId) : runs.size;
    }
    return count;
  }

  first(): RunId | undefined {
    if (this.#byPriority.size === 0) return undefined;
    const highest = Math.max(...this.#byPriority.keys());
    return this.#byPriority.get(highest)?.values().next().value;
  }
}

export interface StarvedTurn {
  readonly priority?: number;
  /** Devices on which the run started something just now. */
  readonly served?: ReadonlySet<string>;
}

const NOWHERE: ReadonlySet<string> = new Set();

interface Waiting {
  readonly needs: ReadonlySet<string>;
  readonly priority: number;
}

/**
 * Fairness between runs: who has ready tasks and no device for them, per device they wait for. A slot that becomes free is
 * granted to the first in line, and everybody else leaves it alone until that one was decided.
 */
export class Starved {
  readonly #runs = new Map<RunId, Waiting>();
  readonly #queues = new Map<string, Queue>();

  /**
   * What a run waits for after it was decided, in place of what it waited for before; where it waits already it keeps its
   * place, unless it was `served` there just now: then it is the last again. Answers the devices of which a slot was kept
   * for it until now.
   */
  set(runId: RunId, needs: ReadonlySet<string>, { priority = 0, served = NOWHERE }: StarvedTurn = {}): DeviceId[] {
    const before = this.#runs.get(runId);
    for (const need of before?.needs ?? []) {
      if (!needs.has(need) || served.has(need) || before?.priority !== priority) this.#leave(runId, need);
    }
    if (needs.size === 0) this.#runs.delete(runId);
    else this.#runs.set(runId, { needs, priority });
    for (const need of needs) this.#queue(need).add(runId, priority);
    return this.#release(runId);
  }

  remove(runId: RunId): DeviceId[] {
    return this.set(runId, new Set());
  }

  /** Grants free slots to the first of those that wait for them; they wait no more until they say so again. */
  take(need: DeviceId, slots: number): RunId[] {
    const queue = this.#queues.get(need);
    if (queue === undefined) return [];
    const taken: RunId[] = [];
    for (let left = slots - queue.granted.size; left > 0; left--) {
      const runId = queue.first();
      if (runId === undefined) break;
      for (const other of this.#runs.get(runId)?.needs ?? []) this.#leave(runId, other);
      this.#runs.delete(runId);
      queue.granted.add(runId);
      taken.push(runId);
    }
    return taken;
  }

  /** Slots of a device that a run has to leave to others. */
  reserved(runId: RunId, deviceId: DeviceId, priority = 0): number {
    const queue = this.#queues.get(deviceId);
    if (queue === undefined) return 0;
    if (queue.granted.has(runId)) return queue.granted.size - 1;
    return queue.granted.size + queue.ahead(runId, priority);
  }

  #release(runId: RunId): DeviceId[] {
    const released: DeviceId[] = [];
    for (const [need, queue] of this.#queues) {
      if (!queue.granted.delete(runId)) continue;
      released.push(need);
      this.#tidy(need, queue);
    }
    return released;
  }

  #queue(need: string): Queue {
    const queue = this.#queues.get(need) ?? new Queue();
    this.#queues.set(need, queue);
    return queue;
  }

  #leave(runId: RunId, need: string): void {
    const queue = this.#queues.get(need);
    if (queue === undefined) return;
    queue.remove(runId);
    this.#tidy(need, queue);
  }

  #tidy(need: string, queue: Queue): void {
    if (queue.isIdle) this.#queues.delete(need);
  }
}

/** The instant at which every simulation begins. */
export const START_MS = Date.parse('2026-01-01T00:00:00.000Z');

interface Event {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
}

/**
 * A virtual clock and what is to happen on it, in order of time, then of arrival. What an event starts runs to its end, all
 * microtasks included, before the next event happens: code that awaits simulated I/O sees time pass only there.
 */
export class Scheduler {
  readonly #heap: Event[] = [];
  #order = 0;
  #now = START_MS;
  #stopped = false;
  #happened = 0;

  /** Milliseconds since the epoch, whole as a clock gives them. */
  now(): number {
    return Math.floor(this.#now);
  }

  /** Milliseconds since the start. */
  get elapsed(): number {
    return this.#now - START_MS;
  }

  /** Events so far. */
  get happened(): number {
    return this.#happened;
  }

  at(at: number, run: () => void): void {
    push(this.#heap, { at: Math.max(at, this.#now), order: this.#order++, run });
  }

  after(delayMs: number, run: () => void): void {
    this.at(this.#now + delayMs, run);
  }

  /** No event happens any more. */
  stop(): void {
    this.#stopped = true;
  }

  /** Lets everything happen until nothing is left, somebody stops it, or `most` events have. True unless the last. */
  async run(most: number): Promise<boolean> {
    while (!this.#stopped) {
      if (this.#happened >= most) return false;
      const event = pop(this.#heap);
      if (event === undefined) return true;
      this.#now = event.at;
      this.#happened += 1;
      event.run();
      await microtasks();
    }
    return true;
  }
}

/** Comes back when no microtask is left. No time passes: nothing else waits for the event loop of this process. */
function microtasks(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

function isBefore(one: Event, other: Event): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}

function push(heap: Event[], event: Event): void {
  let index = heap.push(event) - 1;
  while (index > 0) {
    const parent = (index - 1) >> 1;
    const above = heap[parent];
    if (above === undefined || !isBefore(event, above)) break;
    heap[index] = above;
    index = parent;
  }
  heap[index] = event;
}

function pop(heap: Event[]): Event | undefined {
  const first = heap[0];
  const last = heap.pop();
  if (first === undefined || last === undefined || heap.length === 0) return first;
  let index = 0;
  for (;;) {
    const left = heap[2 * index + 1];
    const right = heap[2 * index + 2];
    const child = right !== undefined && left !== undefined && isBefore(right, left) ? right : left;
    if (child === undefined || !isBefore(child, last)) break;
    heap[index] = child;
    index = child === left ? 2 * index + 1 : 2 * index + 2;
  }
  heap[index] = last;
  return first;
}

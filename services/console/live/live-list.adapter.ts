import type { ListRows } from './list-changes.js';

/** A list as it was asked for last, as JSON. */
export interface ListState {
  readonly rows: ListRows;
  readonly isMore: boolean;
  /** What is told beside the rows, whole whenever it changes: the fields of a message. */
  readonly beside: string | undefined;
  /** Why it may be old. */
  readonly stale: string | undefined;
}

type Loaded = Omit<ListState, 'stale'>;

/** After something has happened: whoever keeps the list hears of it when we do, and may take a moment. */
const LOOKS = 3;

interface ListParts<Who> {
  /** Asks for it, in the name of one who listens. */
  readonly load: (who: Who) => Promise<Loaded>;
  /** It is asked for so often, while somebody listens. */
  readonly everyMs: number;
  /** And sooner when something is heard, but not sooner after the last time than this. */
  readonly restMs: number;
}

/**
 * A list that many listen to and that is asked for once. Who listens takes its newest state when he is ready for it: what he is too slow
 * for he never gets, so nothing piles up.
 */
export class LiveList<Who> {
  readonly #parts: ListParts<Who>;
  readonly #listening = new Set<Who>();
  #state: ListState | undefined;
  #changed = Promise.withResolvers<void>();
  #poked = Promise.withResolvers<void>();
  #again = 0;
  #running = false;

  constructor(parts: ListParts<Who>) {
    this.#parts = parts;
  }

  /** Whether anybody is interested. */
  get isHeard(): boolean {
    return this.#listening.size > 0;
  }

  /** Something has happened that may be seen in it, at once or a moment later. */
  poke(): void {
    this.#again = LOOKS;
    this.#poked.resolve();
  }

  /** Each state that is there when it is asked for, until the signal. */
  async *states(who: Who, signal: AbortSignal): AsyncGenerator<ListState, void, undefined> {
    this.#listening.add(who);
    const { promise: over, resolve } = Promise.withResolvers<void>();
    signal.addEventListener('abort', () => resolve(), { once: true });
    if (!this.#running) void this.#run();
    try {
      for (let seen: ListState | undefined; !signal.aborted;) {
        const changed = this.#changed.promise;
        if (this.#state !== undefined && this.#state !== seen) {
          seen = this.#state;
          yield seen;
        } else await Promise.race([changed, over]);
      }
    } finally {
      this.#listening.delete(who);
      if (!this.isHeard) this.#poked.resolve();
    }
  }

  async #run(): Promise<void> {
    this.#running = true;
    while (this.isHeard) {
      const [who] = this.#listening;
      if (who === undefined) break;
      this.#poked = Promise.withResolvers();
      this.#again = Math.max(0, this.#again - 1);
      await this.#look(who);
      await waited(this.#parts.restMs, undefined);
      if (this.isHeard) await waited(this.#again > 0 ? this.#parts.restMs : this.#parts.everyMs, this.#poked.promise);
    }
    this.#running = false;
    this.#state = undefined;
    // Somebody may have come while the last one left.
    if (this.isHeard) void this.#run();
  }

  async #look(who: Who): Promise<void> {
    try {
      this.#put({ ...(await this.#parts.load(who)), stale: undefined });
    } catch (error) {
      const nothing = { rows: new Map<string, string>(), isMore: false, beside: undefined };
      this.#put({ ...(this.#state ?? nothing), stale: error instanceof Error ? error.message : String(error) });
    }
  }

  #put(state: ListState): void {
    if (this.#state !== undefined && isSame(this.#state, state)) return;
    this.#state = state;
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}

function isSame(one: ListState, other: ListState): boolean {
  if (one.stale !== other.stale || one.isMore !== other.isMore || one.beside !== other.beside) return false;
  if (one.rows.size !== other.rows.size) return false;
  return [...other.rows].every(([id, row]) => one.rows.get(id) === row);
}

async function waited(ms: number, or: Promise<void> | undefined): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await (or === undefined ? promise : Promise.race([promise, or]));
  clearTimeout(timer);
}

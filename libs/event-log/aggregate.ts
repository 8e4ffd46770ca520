import { GENESIS_HASH, schemaVersionOf, type Cause, type CommitAuthor } from '#proto';
import type { ChainedCommit } from './chain.js';
import type { EventLog, Stored } from './event-log.js';
import { newCommitId } from './ids.js';
import { readOn } from './read-on.js';
import { sealCommit } from './sealing.js';

/** Tries of one change before it is given up because others are faster every time; who asked for it asks again. */
export const TRIES_MAX = 16;

/** Others changed it again and again while it was being changed. */
export class ContendedError extends Error {
  override readonly name = 'ContendedError';
  constructor(what: string) {
    super(`${what} was changed by others ${TRIES_MAX} times meanwhile.`);
  }
}

/** Somebody else wrote first: what was decided was decided on what is not so any more. */
export const OVERTAKEN = Symbol('overtaken');
export type Overtaken = typeof OVERTAKEN;

/** Tries until nobody else was faster; `lost` counts the tries before. Throws ContendedError after `TRIES_MAX`, and what a try throws. */
export async function uncontended<T>(what: string, attempt: (lost: number) => Promise<T | Overtaken>): Promise<T> {
  for (let lost = 0; lost < TRIES_MAX; lost++) {
    const done = await attempt(lost);
    if (done !== OVERTAKEN) return done;
  }
  throw new ContendedError(what);
}

/** Where the chain of an aggregate ends: what its next commit goes on from. */
export interface ChainEnd {
  /** Stream sequence of the last message; 0 for none. */
  readonly sequence: number;
  /** Commits so far. */
  readonly number: number;
  /** Events so far. */
  readonly events: number;
  readonly hash: string;
}

export const NO_COMMITS: ChainEnd = { sequence: 0, number: 0, events: 0, hash: GENESIS_HASH };

function endAfter({ events }: ChainEnd, { commit, sequence }: Stored<ChainedCommit>): ChainEnd {
  return { sequence, number: commit.number, events: events + commit.events.length, hash: commit.hash };
}

/** What the commits of an aggregate amount to, and where they end. */
export interface Loaded<S> {
  readonly state: S;
  readonly end: ChainEnd;
}

/** Who writes a commit, when, and why. */
export interface Stamp {
  /** The id of the commit, a ULID. */
  readonly commit: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly by: CommitAuthor;
  readonly causes: readonly Cause[];
}

interface Fact {
  readonly type: string;
  readonly data: object;
}

type Recorded<E> = E & { id: string; sequence: number; schemaVersion: number };

interface Envelope<E> {
  readonly commit: string;
  readonly number: number;
  readonly at: string;
  readonly by: CommitAuthor;
  readonly causes: Cause[];
  readonly events: Recorded<E>[];
  readonly prevHash: string;
  readonly hash: string;
}

/** The commit that continues a chain. `owner`: its fields that say whose it is; `eventId`: `<commit>.<index>` when absent. */
export function sealNext<O extends object, E extends Fact>(
  end: Omit<ChainEnd, 'sequence'>,
  owner: O,
  events: readonly E[],
  { commit, now, by, causes, eventId }: Stamp & { readonly eventId?: (sequence: number) => string },
): O & Envelope<E> {
  const recorded = events.map((event, index): Recorded<E> => {
    const sequence = end.events + index + 1;
    const id = eventId?.(sequence) ?? `${commit}.${index}`;
    return { id, sequence, schemaVersion: schemaVersionOf(event.type), ...event };
  });
  const at = new Date(now).toISOString();
  const draft = { commit, number: end.number + 1, at, by, causes: [...causes], ...owner, events: recorded };
  return sealCommit(draft, end.hash);
}

/** What a change comes to: the facts to store, none when nothing follows, and what is told to who asked for it. */
export interface AggregateChange<E, T, K = never> {
  readonly value: T;
  readonly events: readonly E[];
  readonly causes: readonly Cause[];
  /** Where the facts go, when that is not what was asked to be changed. */
  readonly to?: K;
  /** Stream sequence at which all that it depends on must still end, when that is more than this aggregate. */
  readonly against?: number;
}

/** A change that stores nothing. */
export const unchanged = <T>(value: T): AggregateChange<never, T> => ({ value, events: [], causes: [] });

export interface Changed<S, T> {
  readonly value: T;
  readonly after: Loaded<S>;
  /** Something was stored for it. */
  readonly stored: boolean;
}

/** One kind of aggregate: how its commits become a state. */
export interface AggregateKind<K, C, S> {
  /** What an error calls it. */
  name(key: K): string;
  /** The fields of a commit that say whose it is. */
  ownerOf(key: K): Partial<C>;
  /** Before its first fact. */
  nothing(key: K): S;
  /** The state with the commits that follow; what is given stays as it was. */
  follow(state: S, stored: readonly Stored<C>[]): S;
}

export interface AggregateOptions<K, C> {
  readonly log: EventLog<K, C>;
  readonly by: CommitAuthor;
  readonly clock: { now(): number };
}

/** How an aggregate is known before it is changed. */
export interface Beforehand<S> {
  /** An earlier state: only what has come since is read. */
  readonly known?: Loaded<S> | undefined;
  /** What the first try decides on, without reading anything. */
  readonly from?: Loaded<S>;
  /** Read at the same time as the aggregate, in every try. */
  readonly beside?: () => Promise<unknown>;
}

/**
 * The aggregates of one stream, as their only writer has them:
 *
 *   load ──► fold ──► decide ──► seal ──► append ──► stored
 *    ▲                  │                   │
 *    └── conflict ──────┴───────────────────┘   `TRIES_MAX` times: ContendedError
 *
 * What is loaded is checked before it is folded: hashes over the bytes as they are stored, links, numbers. A lost answer to an
 * append is read back by the log.
 */
export class Aggregates<K, C extends ChainedCommit, E extends Fact, S> {
  readonly #kind: AggregateKind<K, C, S>;
  readonly #options: AggregateOptions<K, C>;

  constructor(kind: AggregateKind<K, C, S>, options: AggregateOptions<K, C>) {
    this.#kind = kind;
    this.#options = options;
  }

  /** Before its first fact. */
  nothing(key: K): Loaded<S> {
    return { state: this.#kind.nothing(key), end: NO_COMMITS };
  }

  /** What is stored now. Of `known`, an earlier look, only what has come since is read. Throws LoadError, CorruptLogError. */
  async load(key: K, known?: Loaded<S>): Promise<Loaded<S>> {
    const { anew, stored } = await readOn(this.#options.log, key, known?.end ?? NO_COMMITS);
    return this.#follow(known === undefined || anew ? this.nothing(key) : known, stored);
  }

  /** Stream sequence of its last message, read from the leader; 0 for none. */
  endsAt(key: K): Promise<number> {
    return this.#options.log.endsAt(key);
  }

  /**
   * Changes it by what is decided on its state, again from a fresh load whenever somebody else wrote meanwhile. A decision
   * that is OVERTAKEN has itself seen that somebody else was faster. Throws ContendedError, what loading throws, and
   * AppendError when nobody can say whether the facts are stored.
   */
  change<T>(
    key: K,
    decide: (state: S, now: Tried<S>) => Decision<E, T, K> | Promise<Decision<E, T, K>>,
    { known: first, from, beside }: Beforehand<S> = {},
  ): Promise<Changed<S, T>> {
    let known = from ?? first;
    return uncontended(this.#kind.name(key), async (lost) => {
      const fresh = lost === 0 && from !== undefined ? from : this.load(key, known);
      const [loaded] = await Promise.all([fresh, beside?.()]);
      known = loaded;
      const change = await decide(loaded.state, { lost, loaded });
      if (change === OVERTAKEN) return OVERTAKEN;
      const { value, events, to = key } = change;
      if (events.length === 0) return { value, after: loaded, stored: false };
      const after = await this.#append(to, loaded, change);
      return after === OVERTAKEN ? OVERTAKEN : { value, after, stored: true };
    });
  }

  async #append(
    key: K,
    before: Loaded<S>,
    { events, causes, against = before.end.sequence }: AggregateChange<E, unknown, K>,
  ): Promise<Loaded<S> | Overtaken> {
    const { log, by, clock } = this.#options;
    const now = clock.now();
    const owner = this.#kind.ownerOf(key);
    const commit = sealNext(before.end, owner, events, { commit: newCommitId(now), now, by, causes }) as unknown as C;
    const appended = await log.append(key, commit, against);
    if (appended.kind === 'conflict') return OVERTAKEN;
    // A copy: the bytes that a sealed commit is stored as stay in memory as long as it does.
    return this.#follow(before, [{ commit: { ...commit }, sequence: appended.sequence }]);
  }

  #follow({ state, end }: Loaded<S>, stored: readonly Stored<C>[]): Loaded<S> {
    return { state: this.#kind.follow(state, stored), end: stored.reduce(endAfter, end) };
  }
}

type Decision<E, T, K> = AggregateChange<E, T, K> | Overtaken;

interface Tried<S> {
  /** Tries before this one. */
  readonly lost: number;
  readonly loaded: Loaded<S>;
}

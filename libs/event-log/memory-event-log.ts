import { LIMITS } from '#proto';
import { encodeCommit } from './chain.js';
import { AppendError } from './errors.js';
import type { ActorLog, Appended, AttemptLog, EventLog, FleetLog, PlanLog, RunLog, Stored } from './event-log.js';
import { ACTOR_LOG, ATTEMPT_LOG, FLEET_LOG, PLAN_LOG, RUN_LOG, type LogSpec } from './logs.js';
import { parseCommits } from './parse-commit.js';

/** What happens to the next append: `stored-unknown` stores it and `lost-unknown` does not, but the caller hears AppendError both times. */
export type MemoryFault = 'stored-unknown' | 'lost-unknown';

interface Message {
  readonly sequence: number;
  readonly commit: string;
  readonly data: Uint8Array;
}

interface LoggedCommit {
  readonly commit: string;
}

/** The same semantics without a server: conflicts by expected sequence, commits kept as bytes, the chain checked when loaded. */
export class MemoryEventLog<K, C extends LoggedCommit> implements EventLog<K, C> {
  /** Taken from the front, one per append. */
  readonly faults: MemoryFault[] = [];
  readonly #spec: LogSpec<K, C>;
  readonly #aggregates = new Map<string, Message[]>();
  readonly #ids = new Set<string>();
  #sequence = 0;

  constructor(spec: LogSpec<K, C>) {
    this.#spec = spec;
  }

  async append(key: K, commit: C, end: number): Promise<Appended> {
    const fault = this.faults.shift();
    const subject = this.#spec.subject(key);
    if (fault === 'lost-unknown') throw new AppendError(subject, 'the server did not answer');
    const data = encodeCommit(commit);
    if (data.length > LIMITS.commitBytesMax) throw new AppendError(subject, `it has ${data.length} bytes`);
    const messages = this.#messagesOf(key);
    const guarded = this.#guarded(key);
    if ((guarded.at(-1)?.sequence ?? 0) !== end) {
      const first = guarded.find(({ sequence }) => sequence > end);
      if (first?.commit !== commit.commit) return { kind: 'conflict' };
      return { kind: 'appended', sequence: first.sequence };
    }
    if (this.#ids.has(commit.commit)) throw new AppendError(subject, 'its id is already used by another aggregate');
    this.#ids.add(commit.commit);
    this.#sequence += 1;
    messages.push({ sequence: this.#sequence, commit: commit.commit, data });
    if (fault === 'stored-unknown') throw new AppendError(subject, 'the server did not answer');
    return { kind: 'appended', sequence: this.#sequence };
  }

  async load(key: K, after = 0): Promise<Stored<C>[]> {
    const stored = this.#messagesOf(key).filter(({ sequence }) => sequence > after);
    return parseCommits(this.#spec.filter(key), this.#spec.schema, stored, { fromStart: after === 0 });
  }

  async endsAt(key: K): Promise<number> {
    return this.#messagesOf(key).at(-1)?.sequence ?? 0;
  }

  /** The messages whose end an append is about. */
  #guarded(key: K): readonly Message[] {
    if (this.#spec.guard === undefined) return this.#messagesOf(key);
    return [...this.#aggregates.values()].flat().toSorted((one, other) => one.sequence - other.sequence);
  }

  #messagesOf(key: K): Message[] {
    const filter = this.#spec.filter(key);
    const found = this.#aggregates.get(filter) ?? [];
    this.#aggregates.set(filter, found);
    return found;
  }
}

export function memoryRunLog(): RunLog & { readonly faults: MemoryFault[] } {
  return new MemoryEventLog(RUN_LOG);
}

export function memoryAttemptLog(): AttemptLog & { readonly faults: MemoryFault[] } {
  return new MemoryEventLog(ATTEMPT_LOG);
}

export function memoryPlanLog(): PlanLog & { readonly faults: MemoryFault[] } {
  return new MemoryEventLog(PLAN_LOG);
}

export function memoryFleetLog(): FleetLog & { readonly faults: MemoryFault[] } {
  return new MemoryEventLog(FLEET_LOG);
}

export function memoryActorLog(): ActorLog & { readonly faults: MemoryFault[] } {
  return new MemoryEventLog(ACTOR_LOG);
}

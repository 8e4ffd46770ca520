import { setTimeout as sleep } from 'node:timers/promises';
import { jetstream, JetStreamApiCodes, JetStreamApiError, type JetStreamClient } from '@nats-io/jetstream';
import { errors, headers, type NatsConnection } from '@nats-io/transport-node';
import { doubledMs } from '#libs/backoff';
import { HEADER_COMMIT, HEADER_TYPES, LIMITS } from '#proto';
import { CannotStoreError, StoreWatch } from '#libs/messaging';
import { encodeCommit } from './chain.js';
import { AppendError } from './errors.js';
import type {
  ActorLog,
  Appended,
  AttemptLog,
  AttentionLog,
  EventLog,
  FleetLog,
  PlanLog,
  RunLog,
  Stored,
} from './event-log.js';
import { ACTOR_LOG, ATTENTION_LOG, ATTEMPT_LOG, FLEET_LOG, PLAN_LOG, RUN_LOG, type LogSpec } from './logs.js';
import { parseCommits } from './parse-commit.js';
import { StoredMessages } from './stored-messages.adapter.js';

/** An append that is not acknowledged after this is looked up. */
const ACK_TIMEOUT_MS = 4_000;
/** After this nobody could say what became of the commit, and the caller has to know. */
const APPEND_GIVE_UP_MS = 30_000;
const APPEND_WAIT = { msMin: 100, msMax: 1_000 };

interface LoggedCommit {
  readonly commit: string;
  readonly events: readonly { readonly type: string }[];
}

export function openRunLog(nc: NatsConnection): RunLog {
  return new JetStreamEventLog(nc, RUN_LOG);
}

export function openAttemptLog(nc: NatsConnection): AttemptLog {
  return new JetStreamEventLog(nc, ATTEMPT_LOG);
}

export function openPlanLog(nc: NatsConnection): PlanLog {
  return new JetStreamEventLog(nc, PLAN_LOG);
}

export function openFleetLog(nc: NatsConnection): FleetLog {
  return new JetStreamEventLog(nc, FLEET_LOG);
}

export function openActorLog(nc: NatsConnection): ActorLog {
  return new JetStreamEventLog(nc, ACTOR_LOG);
}

export function openAttentionLog(nc: NatsConnection): AttentionLog {
  return new JetStreamEventLog(nc, ATTENTION_LOG);
}

/**
 * One stream as an event log. The server's expected last sequence decides between writers; whatever else goes wrong on the
 * way is resolved by reading back:
 *
 *   publish ──ack──────────────────────────────────────────────────► appended
 *      ├──refused for good (too large, no permission)──────────────► AppendError
 *      └──conflict, timeout, nobody there, no room──► first message after `end`, from the leader
 *             ▲                                ├── ours ───────────► appended
 *             │                                ├── another's ──────► conflict
 *             │                                ├── none, the server said conflict ► conflict (`end` is not where the log ends)
 *             │                                ├── none, the server cannot store ► AppendError, because of CannotStoreError
 *             └──── backoff, the same commit ──┴── none, or nobody can say ──limit──► AppendError
 *
 * Sending the same commit again is safe: `end` admits one message only, and it is recognised by its commit id.
 */
export class JetStreamEventLog<K, C extends LoggedCommit> implements EventLog<K, C> {
  readonly #nc: NatsConnection;
  readonly #spec: LogSpec<K, C>;
  readonly #js: JetStreamClient;
  readonly #stored: StoredMessages;
  readonly #store: StoreWatch;

  constructor(nc: NatsConnection, spec: LogSpec<K, C>) {
    this.#nc = nc;
    this.#spec = spec;
    this.#js = jetstream(nc);
    this.#stored = new StoredMessages(nc, spec.stream);
    this.#store = StoreWatch.of(nc);
  }

  async append(key: K, commit: C, end: number): Promise<Appended> {
    const subject = this.#spec.subject(key);
    const data = encodeCommit(commit);
    if (data.length > LIMITS.commitBytesMax) {
      throw new AppendError(subject, `it has ${data.length} bytes, ${LIMITS.commitBytesMax} are allowed`);
    }
    const deadline = performance.now() + APPEND_GIVE_UP_MS;
    for (let attempt = 1; ; attempt++) {
      const sent = await this.#send(key, commit, data, end);
      if (sent.kind === 'appended') return sent;
      const found = await this.#find(key, commit.commit, end);
      if (found.kind === 'appended' || found.kind === 'conflict') return found;
      if (found.kind === 'nothing' && sent.kind === 'wrong-sequence') return { kind: 'conflict' };
      if (found.kind === 'nothing' && sent.kind === 'duplicate') {
        throw new AppendError(subject, `the commit id ${commit.commit} is already used by another aggregate`);
      }
      if (found.kind === 'nothing' && sent.cause instanceof CannotStoreError) {
        throw new AppendError(subject, sent.cause.fault.why, { cause: sent.cause });
      }
      if (performance.now() > deadline || this.#isOver()) {
        throw new AppendError(subject, 'the server did not answer', { cause: found.cause ?? sent.cause });
      }
      await sleep(doubledMs(APPEND_WAIT, attempt));
    }
  }

  async load(key: K, after = 0): Promise<Stored<C>[]> {
    const filter = this.#spec.filter(key);
    const messages = await this.#stored.after(filter, after);
    const stored = messages.map(({ seq, data }) => ({ sequence: seq, data }));
    return parseCommits(filter, this.#spec.schema, stored, { fromStart: after === 0 });
  }

  endsAt(key: K): Promise<number> {
    return this.#stored.endsAt(this.#spec.filter(key));
  }

  async #send(key: K, commit: C, data: Uint8Array, end: number): Promise<Sent> {
    const subject = this.#spec.subject(key);
    const filter = this.#guard(key);
    const head = headers();
    head.set(HEADER_COMMIT, commit.commit);
    head.set(HEADER_TYPES, [...new Set(commit.events.map(({ type }) => type))].join(','));
    try {
      const ack = await this.#store.stored(() =>
        this.#js.publish(subject, data, {
          msgID: commit.commit,
          headers: head,
          expect: {
            lastSubjectSequence: end,
            ...(filter === subject ? {} : { lastSubjectSequenceSubject: filter }),
          },
          timeout: ACK_TIMEOUT_MS,
        }),
      );
      // A replicated stream answers a repeat out of its dedupe window; where the first one lies is read, not believed.
      return ack.duplicate ? { kind: 'duplicate' } : { kind: 'appended', sequence: ack.seq };
    } catch (cause) {
      if (!(cause instanceof JetStreamApiError)) {
        if (this.#isOver() || cause instanceof errors.InvalidArgumentError) {
          throw new AppendError(subject, 'the connection is closed or does not take it', { cause });
        }
        return { kind: 'unknown', cause };
      }
      if (cause.code === JetStreamApiCodes.StreamWrongLastSequence) return { kind: 'wrong-sequence', cause };
      if (cause.code === JetStreamApiCodes.StreamWrongLastSequenceUnknown) return { kind: 'unknown', cause };
      if (cause.status === UNAVAILABLE) return { kind: 'unknown', cause };
      throw new AppendError(subject, 'the server refused it', { cause });
    }
  }

  /** The subjects whose end an append is about. */
  #guard(key: K): string {
    return this.#spec.guard ?? this.#spec.filter(key);
  }

  #isOver(): boolean {
    return this.#nc.isClosed() || this.#nc.isDraining();
  }

  /** Whose message is the first after `end`: that one, and no other, was appended there. */
  async #find(key: K, commitId: string, end: number): Promise<Found> {
    try {
      const first = await this.#stored.firstAfterOnce(this.#guard(key), end);
      if (first === null) return { kind: 'nothing' };
      if (first.header.get(HEADER_COMMIT) !== commitId) return { kind: 'conflict' };
      return { kind: 'appended', sequence: first.seq };
    } catch (cause) {
      return { kind: 'unknown', cause };
    }
  }
}

/** `status` of an API error that is about the moment, not about the message: no leader, out of resources. */
const UNAVAILABLE = 503;

type Sent =
  | { readonly kind: 'appended'; readonly sequence: number }
  | { readonly kind: 'wrong-sequence'; readonly cause: unknown }
  | { readonly kind: 'duplicate'; readonly cause?: undefined }
  | { readonly kind: 'unknown'; readonly cause: unknown };

type Found =
  | { readonly kind: 'appended'; readonly sequence: number }
  | { readonly kind: 'conflict'; readonly cause?: undefined }
  | { readonly kind: 'nothing'; readonly cause?: undefined }
  | { readonly kind: 'unknown'; readonly cause: unknown };

import { jetstream, jetstreamManager, type JetStreamManager, type StoredMsg } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { z } from 'zod';
import { DUE_TTL_MS, Instant, STREAMS, subjects, type DeviceId, type RunId } from '#proto';
import { ConnectionWatch, isWrongSequence, StoreWatch } from '../connection/index.js';

const ARM_TIMEOUT_MS = 4_000;
const DUE_TTL = `${DUE_TTL_MS / 1_000}s`;

/** Another writer armed the timer meanwhile: whatever was decided was decided on an old state. */
export class TimerConflictError extends Error {
  override readonly name = 'TimerConflictError';
  readonly subject: string;
  constructor(subject: string, options?: ErrorOptions) {
    super(`${subject} was armed by somebody else meanwhile.`, options);
    this.subject = subject;
  }
}

/** Body of a pending timer and of the due message it becomes. */
export const TimerBody = z.strictObject({ at: Instant });
export type TimerBody = z.infer<typeof TimerBody>;

interface Armed {
  readonly sequence: number;
  readonly at: number;
}

const NOT_ARMED: Armed = { sequence: 0, at: Number.NaN };

interface TimerSubjects<K> {
  pending(key: K): string;
  due(key: K): string;
}

/**
 * One pending wake-up per key, kept by the server as a scheduled message: publishing on the same subject replaces it, and at
 * its time the server stores a due message and removes the pending one, also when the time passed while the server was down.
 * After that the timer's subject is empty: its last sequence is 0 again, as if it had never been armed.
 */
class Timers<K extends string> {
  readonly #nc: NatsConnection;
  readonly #jsm: Promise<JetStreamManager>;
  readonly #names: TimerSubjects<K>;
  /** What we last saw of a key: what the next `arm` expects to find. */
  readonly #known = new Map<K, Armed>();

  constructor(nc: NatsConnection, names: TimerSubjects<K>) {
    this.#nc = nc;
    this.#jsm = jetstreamManager(nc, { checkAPI: false });
    this.#names = names;
  }

  /** The instant that is armed, as the server has it now; undefined when none is. */
  async armed(key: K): Promise<number | undefined> {
    const found = await this.#read(key);
    this.#known.set(key, found);
    return Number.isNaN(found.at) ? undefined : found.at;
  }

  /** Nothing is armed for a key that is new; should something be after all, `arm` says so. */
  expectNone(key: K): void {
    this.#known.set(key, NOT_ARMED);
  }

  /** Stores the wake-up for `at` (ms since epoch) in place of the one before. Throws TimerConflictError when another writer was faster. */
  async arm(key: K, at: number): Promise<void> {
    const before = this.#known.get(key) ?? (await this.#read(key));
    this.#known.delete(key);
    const sequence = await this.#publish(key, at, before);
    this.#known.set(key, { sequence, at });
  }

  /** Forgets what was seen of a key, when it is not ours any more. */
  forget(key: K): void {
    this.#known.delete(key);
  }

  async #publish(key: K, at: number, before: Armed): Promise<number> {
    try {
      return await this.#publishOnce(key, at, before.sequence);
    } catch (cause) {
      if (!isWrongSequence(cause)) throw cause;
      const now = await this.#read(key);
      // It fired meanwhile: nobody else was here, the server removed the pending message when it stored the due one.
      if (now.sequence === 0 && before.sequence > 0) return this.#publishOnce(key, at, 0);
      throw new TimerConflictError(this.#names.pending(key), { cause });
    }
  }

  async #publishOnce(key: K, at: number, expected: number): Promise<number> {
    const instant = new Date(at).toISOString();
    const body: TimerBody = { at: instant };
    const ack = await StoreWatch.of(this.#nc).stored(() =>
      jetstream(this.#nc).publish(this.#names.pending(key), JSON.stringify(body), {
        schedule: { specification: { at: instant }, target: this.#names.due(key), ttl: DUE_TTL },
        expect: { lastSubjectSequence: expected },
        timeout: ARM_TIMEOUT_MS,
      }),
    );
    return ack.seq;
  }

  async #read(key: K): Promise<Armed> {
    const jsm = await this.#jsm;
    const message = await ConnectionWatch.of(this.#nc).request(() =>
      jsm.streams.getMessage(STREAMS.TIMERS.name, { last_by_subj: this.#names.pending(key) }),
    );
    if (message === null) return NOT_ARMED;
    return { sequence: message.seq, at: instantOf(message) };
  }
}

export class RunTimers extends Timers<RunId> {
  constructor(nc: NatsConnection) {
    super(nc, { pending: subjects.runTimer, due: subjects.runDue });
  }
}

export class DeviceTimers extends Timers<DeviceId> {
  constructor(nc: NatsConnection) {
    super(nc, { pending: subjects.deviceTimer, due: subjects.deviceDue });
  }
}

/** Not a number for what we did not write: it holds the place, and will be replaced. */
function instantOf(message: StoredMsg): number {
  try {
    return Date.parse(TimerBody.parse(message.json()).at);
  } catch {
    return Number.NaN;
  }
}

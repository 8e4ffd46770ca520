import { LIMITS, type RunCommit, type RunId } from '#proto';
import { AppendError, type Appended, encodeCommit, LoadError, type RunLog, type Stored } from '#libs/event-log';
import type { Faults } from './faults.js';
import { NoAnswerError, type Mishap, type Process } from './process.js';
import type { Dice } from './random.js';
import type { Scheduler } from './scheduler.js';

/** As the adapter for JetStream waits. */
const ACK_TIMEOUT_MS = 4_000;
const GIVE_UP_MS = 30_000;
const BACKOFF_MS = 50;
const BACKOFF_MS_MAX = 1_000;
const READ_TIMEOUT_MS = 1_000;
const LATE_MS_MIN = 100;
const LATE_MS_MAX = 20_000;

/** What is stored, in its own words: the text that others read, its SHA-256 covered. */
export interface StoredCommit extends Stored<RunCommit> {
  readonly text: string;
}

type Published = { readonly kind: 'appended'; readonly sequence: number } | { readonly kind: 'wrong-sequence' };

const decoder = new TextDecoder('utf-8', { fatal: true });

/** The server's side of RUNS: one subject per run, expected last sequence, nothing forgotten. */
export class LogServer {
  readonly #runs = new Map<RunId, StoredCommit[]>();
  readonly #scheduler: Scheduler;
  readonly #stored: (message: StoredCommit) => void;
  #sequence = 0;
  #awayUntil = -Infinity;

  /** `stored` hears of every message in the order of the stream. */
  constructor(scheduler: Scheduler, stored: (message: StoredCommit) => void) {
    this.#scheduler = scheduler;
    this.#stored = stored;
  }

  get runIds(): RunId[] {
    return [...this.#runs.keys()];
  }

  get isAway(): boolean {
    return this.#scheduler.now() < this.#awayUntil;
  }

  /** Answers nobody for so long, and does nothing it is asked. */
  leave(ms: number): void {
    this.#awayUntil = this.#scheduler.now() + ms;
  }

  comeBack(): void {
    this.#awayUntil = -Infinity;
  }

  publish(runId: RunId, commit: RunCommit, end: number): Published {
    const messages = this.#runs.get(runId) ?? [];
    if ((messages.at(-1)?.sequence ?? 0) !== end) return { kind: 'wrong-sequence' };
    const text = decoder.decode(encodeCommit(commit));
    const message = { commit: JSON.parse(text) as RunCommit, sequence: ++this.#sequence, text };
    messages.push(message);
    this.#runs.set(runId, messages);
    this.#stored(message);
    return { kind: 'appended', sequence: message.sequence };
  }

  firstAfter(runId: RunId, end: number): StoredCommit | undefined {
    return this.load(runId).find(({ sequence }) => sequence > end);
  }

  load(runId: RunId): readonly StoredCommit[] {
    return this.#runs.get(runId) ?? [];
  }
}

export interface LogClientParts {
  readonly server: LogServer;
  readonly process: Process;
  readonly scheduler: Scheduler;
  readonly faults: Faults;
  /** Latencies. */
  readonly dice: Dice;
}

type Sent = Published | { readonly kind: 'unknown' };

/** One replica's way to the log. Resolves what is unknown as the adapter for JetStream does: by reading back, never by guessing. */
export class LogClient implements RunLog {
  readonly #parts: LogClientParts;

  constructor(parts: LogClientParts) {
    this.#parts = parts;
  }

  async append(runId: RunId, commit: RunCommit, end: number): Promise<Appended> {
    const { scheduler, process } = this.#parts;
    const { length } = encodeCommit(commit);
    if (length > LIMITS.commitBytesMax) throw new AppendError(runId, `it has ${length} bytes`);
    const deadline = scheduler.now() + GIVE_UP_MS;
    for (let attempt = 1; ; attempt++) {
      const sent = await this.send(runId, commit, end);
      if (sent.kind === 'appended') return sent;
      const found = await this.#find(runId, commit, end);
      if (found.kind === 'appended' || found.kind === 'conflict') return found;
      if (found.kind === 'nothing' && sent.kind === 'wrong-sequence') return { kind: 'conflict' };
      if (scheduler.now() > deadline) throw new AppendError(runId, 'the server did not answer');
      await process.sleep(Math.min(BACKOFF_MS * 2 ** attempt, BACKOFF_MS_MAX));
    }
  }

  async load(runId: RunId, after = 0): Promise<Stored<RunCommit>[]> {
    const { server } = this.#parts;
    try {
      return await this.#read(runId, () => server.load(runId).filter(({ sequence }) => sequence > after));
    } catch (cause) {
      throw new LoadError(runId, { cause });
    }
  }

  async endsAt(runId: RunId): Promise<number> {
    const { server } = this.#parts;
    return this.#read(runId, () => server.load(runId).at(-1)?.sequence ?? 0);
  }

  /** One message to the server. */
  async send(runId: RunId, commit: RunCommit, end: number): Promise<Sent> {
    const { server, process, dice } = this.#parts;
    const mishap = this.#mishap(`${runId} after ${end}`);
    const call = { there: dice.spread(0.2, 5), back: dice.spread(0.2, 5), timeoutMs: ACK_TIMEOUT_MS, mishap };
    try {
      return await process.call({ ...call, work: () => server.publish(runId, commit, end) });
    } catch (error) {
      if (error instanceof NoAnswerError) return { kind: 'unknown' };
      throw error;
    }
  }

  #mishap(about: string): Mishap | undefined {
    const { faults, server } = this.#parts;
    if (server.isAway) return { kind: 'request-lost' };
    if (faults.strike('append-ack-lost', about)) return { kind: 'answer-lost' };
    if (faults.strike('append-lost', about)) return { kind: 'request-lost' };
    const late = faults.strike('append-late', about);
    return late && { kind: 'request-late', byMs: late.spread(LATE_MS_MIN, LATE_MS_MAX) };
  }

  async #find(runId: RunId, { commit }: RunCommit, end: number): Promise<Appended | { kind: 'nothing' | 'unknown' }> {
    try {
      const first = await this.#read(runId, () => this.#parts.server.firstAfter(runId, end));
      if (first === undefined) return { kind: 'nothing' };
      return first.commit.commit === commit ? { kind: 'appended', sequence: first.sequence } : { kind: 'conflict' };
    } catch {
      return { kind: 'unknown' };
    }
  }

  #read<T>(about: string, work: () => T): Promise<T> {
    const { faults, server, process, dice } = this.#parts;
    const isLost = server.isAway || faults.strike('read-lost', about) !== undefined;
    const mishap: Mishap | undefined = isLost ? { kind: 'request-lost' } : undefined;
    return process.call({
      there: dice.spread(0.2, 3),
      back: dice.spread(0.2, 3),
      timeoutMs: READ_TIMEOUT_MS,
      mishap,
      work,
    });
  }
}

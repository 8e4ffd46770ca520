// The life of a command id on this device:
//
//   (unknown) ──started──► started ──finished──► finished ──stored──► stored ──7 days──► (unknown)
//                             └── found so after a restart: finished as OUTCOME_UNKNOWN
//
// `started` is on the disk before the tool is called, `finished` before the result is sent. So whatever is found after a
// crash, a tool was called at most once for an id, and a result that was sent is a result that is kept.
import { AttemptKey, CommandId, CommandOutcome, Instant, JournalId, RunId } from '#proto';
import { z } from 'zod';
import { ScreenLease } from './screen-lease.js';

/** What the journal file holds, one fact per record. `at` is the device's own time: it only decides what is forgotten. */
export const JournalRecord = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('opened'), version: z.literal(1), journalId: JournalId }),
  z.strictObject({
    type: z.literal('started'),
    id: CommandId,
    digest: z.string(),
    attempt: AttemptKey,
    at: z.int(),
    /** Until then the command may be sent again by somebody who does not know its end. */
    until: z.int(),
  }),
  z.strictObject({ type: z.literal('finished'), id: CommandId, outcome: CommandOutcome }),
  z.strictObject({ type: z.literal('stored'), id: CommandId, at: z.int(), until: z.int() }),
  z.strictObject({ type: z.literal('stopped'), attempt: AttemptKey, at: z.int() }),
  /** An attempt has come to the screen of the device; with `holds` it acts there, and nobody else does before it has ended. */
  z.strictObject({ type: z.literal('screen'), attempt: AttemptKey, at: z.int(), holds: z.boolean() }),
  /** A run has ended, by the clock of the server; noted before its workspace is removed, and again when that is done. */
  z.strictObject({
    type: z.literal('ended'),
    runId: RunId,
    endedAt: Instant,
    keep: z.boolean(),
    removed: z.boolean(),
    at: z.int(),
  }),
]);
export type JournalRecord = z.infer<typeof JournalRecord>;
export type NotedEnd = Extract<JournalRecord, { type: 'ended' }>;
type Started = Extract<JournalRecord, { type: 'started' }>;

type Entry =
  | { readonly phase: 'started'; readonly record: Started }
  | { readonly phase: 'finished'; readonly record: Started; readonly outcome: CommandOutcome; readonly bytes: number }
  | { readonly phase: 'stored'; readonly at: number; readonly until: number };

export interface Received {
  readonly id: CommandId;
  readonly digest: string;
  readonly attempt: AttemptKey;
  /** Of a command that runs in a workspace: when its attempt was started, if somebody has said so. */
  readonly workspace?: { readonly startedAt: Instant | undefined } | undefined;
}

/** What is to be done with a command that arrives, for the first or the tenth time. */
export type ArrivalVerdict =
  | { readonly kind: 'start' }
  | { readonly kind: 'running' }
  | { readonly kind: 'finished'; readonly outcome: CommandOutcome }
  | { readonly kind: 'refused'; readonly outcome: CommandOutcome };

export const JOURNAL_LIMITS = {
  /** Results that the server has not acknowledged; more commands are refused when there are so many, or so large ones. */
  resultsMax: 1_024,
  resultBytesMax: 64 * 1024 * 1024,
  keepMs: 7 * 24 * 60 * 60 * 1000,
  /** With more ids than this, those that nobody may send any more are forgotten before their 7 days are over. */
  idsMax: 250_000,
  crowdedMarginMs: 60_000,
  stoppedMax: 100_000,
  endedMax: 100_000,
  /** How many old ids one arrival may clear away, so that forgetting never stops the device. */
  forgetAtOnceMax: 64,
} as const;

/** Why a record cannot follow what the journal holds: a bug or a damaged file. */
export class JournalError extends Error {}

/** The journal's state: deterministic, without a clock or a disk. Every change is a record; the same records give the same state. */
export class CommandJournal {
  readonly #entries = new Map<CommandId, Entry>();
  readonly #stopped = new Map<string, { readonly attempt: AttemptKey; readonly at: number }>();
  /** Runs that have ended, the last one noted last. */
  readonly #ended = new Map<RunId, NotedEnd>();
  /** Whose the screen of the device is. */
  readonly screen = new ScreenLease();
  #unstored = 0;
  #unstoredBytes = 0;

  constructor(readonly journalId: string) {}

  receive({ id, digest, attempt, workspace }: Received): ArrivalVerdict {
    const entry = this.#entries.get(id);
    if (entry !== undefined) return known(entry, digest);
    if (this.isStopped(attempt)) return refused('CANCELLED', 'ATTEMPT_STOPPED', 'the attempt was stopped');
    if (workspace !== undefined && this.#hasEnded(attempt.runId, workspace.startedAt)) {
      return refused('CANCELLED', 'RUN_ENDED', 'the run has ended, and nothing of it begins any more');
    }
    if (this.isFull) return refused('FAILED', 'JOURNAL_FULL', 'too many results wait to be stored by the server');
    return { kind: 'start' };
  }

  /** Nothing new may begin: there would be no room for its result, or for its id. */
  get isFull(): boolean {
    return (
      this.#unstored >= JOURNAL_LIMITS.resultsMax ||
      this.#unstoredBytes >= JOURNAL_LIMITS.resultBytesMax ||
      // Every id here may still be sent again: forgetting one could run it twice.
      this.#entries.size >= 2 * JOURNAL_LIMITS.idsMax
    );
  }

  /** Folds one record in; throws when it cannot have happened. */
  apply(record: JournalRecord): void {
    switch (record.type) {
      case 'opened':
        throw new JournalError('a second beginning');
      case 'started':
        if (this.#entries.has(record.id)) throw new JournalError(`command ${record.id} was started twice`);
        this.#entries.set(record.id, { phase: 'started', record });
        this.#unstored++;
        return;
      case 'finished':
        return this.#finish(record.id, record.outcome);
      case 'stored':
        return this.#shrink(record);
      case 'stopped':
        this.#stopped.set(keyOf(record.attempt), { attempt: record.attempt, at: record.at });
        this.screen.ended(record.attempt);
        return;
      case 'screen':
        // What was stopped while it acted has it no more, whatever is told of its end.
        this.screen.apply(this.isStopped(record.attempt) ? { ...record, holds: false } : record);
        return;
      case 'ended':
        this.#ended.delete(record.runId);
        this.#ended.set(record.runId, record);
    }
  }

  isStopped(attempt: AttemptKey): boolean {
    return this.#stopped.has(keyOf(attempt));
  }

  /** How a run has ended here; undefined: not that anybody has said so. */
  endOf(runId: RunId): NotedEnd | undefined {
    return this.#ended.get(runId);
  }

  /** Runs whose workspaces are still to be removed. */
  unremoved(): NotedEnd[] {
    return [...this.#ended.values()].filter(({ keep, removed }) => !keep && !removed);
  }

  /** The record that acknowledges a result; undefined when there is none to acknowledge. */
  storedRecord(id: CommandId, at: number): JournalRecord | undefined {
    const entry = this.#entries.get(id);
    if (entry?.phase !== 'finished') return undefined;
    return { type: 'stored', id, at, until: entry.record.until };
  }

  /** Commands whose results are to be delivered, oldest first: everything the server has not acknowledged. */
  undelivered(): CommandId[] {
    return [...this.#entries].flatMap(([id, entry]) => (entry.phase === 'finished' ? [id] : []));
  }

  /** The result of a command, until it is acknowledged. */
  outcomeOf(id: CommandId): CommandOutcome | undefined {
    const entry = this.#entries.get(id);
    return entry?.phase === 'finished' ? entry.outcome : undefined;
  }

  /** After a restart: what was started and has no end was interrupted; nobody knows how far it came, and it never runs again. */
  interrupted(): JournalRecord[] {
    return [...this.#entries].flatMap(([id, entry]): JournalRecord[] =>
      entry.phase === 'started' ? [{ type: 'finished', id, outcome: interruptedOutcome(entry.record) }] : [],
    );
  }

  /** Drops what is old enough; the file follows at its next rewrite. */
  forget(now: number): void {
    const crowded = this.#entries.size > JOURNAL_LIMITS.idsMax;
    let looked = 0;
    for (const [id, entry] of this.#entries) {
      if (looked++ >= JOURNAL_LIMITS.forgetAtOnceMax) break;
      if (entry.phase !== 'stored') continue;
      const old = entry.at + JOURNAL_LIMITS.keepMs < now;
      const settled = crowded && entry.until + JOURNAL_LIMITS.crowdedMarginMs < now;
      if (old || settled) this.#entries.delete(id);
    }
    for (const [key, { at }] of this.#stopped) {
      if (at + JOURNAL_LIMITS.keepMs >= now && this.#stopped.size <= JOURNAL_LIMITS.stoppedMax) break;
      this.#stopped.delete(key);
    }
    for (const [runId, { at, keep, removed }] of this.#ended) {
      if (looked++ >= 2 * JOURNAL_LIMITS.forgetAtOnceMax) break;
      // What is kept is kept until somebody says otherwise.
      if (keep || !removed) continue;
      if (at + JOURNAL_LIMITS.keepMs < now || this.#ended.size > JOURNAL_LIMITS.endedMax) this.#ended.delete(runId);
    }
  }

  /** The records that give this state, the shortest form of the journal. */
  *snapshot(): Generator<JournalRecord> {
    yield { type: 'opened', version: 1, journalId: this.journalId };
    for (const { attempt, at } of this.#stopped.values()) yield { type: 'stopped', attempt, at };
    yield* this.#ended.values();
    yield* this.screen.snapshot();
    for (const [id, entry] of this.#entries) {
      if (entry.phase === 'stored') yield { type: 'stored', id, at: entry.at, until: entry.until };
      else yield entry.record;
      if (entry.phase === 'finished') yield { type: 'finished', id, outcome: entry.outcome };
    }
  }

  /** A run that was opened again after its end goes on with attempts that were started later. */
  #hasEnded(runId: RunId, startedAt: Instant | undefined): boolean {
    const end = this.#ended.get(runId);
    return end !== undefined && (startedAt === undefined || Date.parse(startedAt) <= Date.parse(end.endedAt));
  }

  #finish(id: CommandId, outcome: CommandOutcome): void {
    const entry = this.#entries.get(id);
    if (entry?.phase !== 'started') throw new JournalError(`command ${id} finished without being started`);
    const bytes = Buffer.byteLength(JSON.stringify(outcome));
    this.#entries.set(id, { phase: 'finished', record: entry.record, outcome, bytes });
    this.#unstoredBytes += bytes;
  }

  /** From a snapshot a `stored` record comes alone; in a running journal it ends a finished entry. */
  #shrink({ id, at, until }: { readonly id: CommandId; readonly at: number; readonly until: number }): void {
    const entry = this.#entries.get(id);
    if (entry?.phase === 'started') throw new JournalError(`command ${id} was stored before it finished`);
    if (entry?.phase === 'finished') {
      this.#unstored--;
      this.#unstoredBytes -= entry.bytes;
    }
    // Deleted first, so that the oldest acknowledged id stands first.
    this.#entries.delete(id);
    this.#entries.set(id, { phase: 'stored', at, until });
  }
}

function known(entry: Entry, digest: string): ArrivalVerdict {
  if (entry.phase === 'stored') {
    return refused(
      'OUTCOME_UNKNOWN',
      'RESULT_FORGOTTEN',
      'the command ran, its result was stored by the server and forgotten here',
    );
  }
  if (entry.record.digest !== digest) {
    return refused(
      'FAILED',
      'COMMAND_ID_REUSED',
      'the command id is known with other content; this command was not run',
    );
  }
  return entry.phase === 'started' ? { kind: 'running' } : { kind: 'finished', outcome: entry.outcome };
}

function refused(state: 'FAILED' | 'CANCELLED' | 'OUTCOME_UNKNOWN', code: string, message: string): ArrivalVerdict {
  const outcome = ({ FAILED: 'failed', CANCELLED: 'cancelled', OUTCOME_UNKNOWN: 'unknown' } as const)[state];
  return {
    kind: 'refused',
    outcome: { state, result: null, error: { code, message, outcome }, startedAt: null, durationMs: null },
  };
}

function interruptedOutcome({ at }: Started): CommandOutcome {
  const message = 'the device client ended while the command was running';
  return {
    state: 'OUTCOME_UNKNOWN',
    result: null,
    error: { code: 'DEVICE_RESTARTED', message, outcome: 'unknown' },
    startedAt: new Date(at).toISOString(),
    durationMs: null,
  };
}

const keyOf = ({ runId, taskId, attempt }: AttemptKey): string => `${runId}.${taskId}.${attempt}`;

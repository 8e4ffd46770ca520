import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { CommandOutcome } from '#proto';
import { CommandJournal, JOURNAL_LIMITS, JournalError, type JournalRecord } from './command-journal.js';
import { lineOf, readJournal } from './journal-lines.js';

const ATTEMPT = { runId: 'r1', taskId: 't1', attempt: 1 };
const DAY = 24 * 60 * 60 * 1000;
const completed = (result: string): CommandOutcome => ({
  state: 'COMPLETED',
  result,
  error: null,
  startedAt: null,
  durationMs: 1,
});
const started = (id: string, at = 0, attempt = ATTEMPT): JournalRecord => ({
  type: 'started',
  id,
  digest: 'd',
  attempt,
  at,
  until: at + 60_000,
});
const finished = (id: string, result = 'x'): JournalRecord => ({ type: 'finished', id, outcome: completed(result) });
const stored = (id: string, at = 0): JournalRecord => ({ type: 'stored', id, at, until: at + 60_000 });
const stopped = (at = 0, attempt = ATTEMPT): JournalRecord => ({ type: 'stopped', attempt, at });
const holding = (...records: JournalRecord[]): CommandJournal => {
  const journal = new CommandJournal('j');
  for (const record of records) journal.apply(record);
  return journal;
};
const arrives = (id: string, digest = 'd') => ({ id, digest, attempt: ATTEMPT });

describe('a command that arrives', () => {
  it('starts when its id is unknown', () => expect(holding().receive(arrives('c'))).toEqual({ kind: 'start' }));

  it('is running when it was started', () =>
    expect(holding(started('c')).receive(arrives('c'))).toEqual({ kind: 'running' }));

  it('gives its result when it has finished', () =>
    expect(holding(started('c'), finished('c')).receive(arrives('c'))).toEqual({
      kind: 'finished',
      outcome: completed('x'),
    }));

  it('never starts again after its result was stored elsewhere', () =>
    expect(holding(started('c'), finished('c'), stored('c')).receive(arrives('c'))).toMatchObject({
      kind: 'refused',
      outcome: { state: 'OUTCOME_UNKNOWN', error: { code: 'RESULT_FORGOTTEN', outcome: 'unknown' } },
    }));

  it.each([[[started('c')]], [[started('c'), finished('c')]]])(
    'is refused when its id is known with other content %#',
    (records) =>
      expect(holding(...records).receive(arrives('c', 'other'))).toMatchObject({
        outcome: { state: 'FAILED', error: { code: 'COMMAND_ID_REUSED' } },
      }),
  );

  it('is cancelled when its attempt was stopped', () =>
    expect(holding(stopped()).receive(arrives('c'))).toMatchObject({
      outcome: { state: 'CANCELLED', error: { outcome: 'cancelled' } },
    }));

  it('gives its result even when its attempt was stopped later', () =>
    expect(holding(started('c'), finished('c'), stopped()).receive(arrives('c'))).toMatchObject({ kind: 'finished' }));

  it('starts when another attempt of its task was stopped', () =>
    expect(holding(stopped(0, { ...ATTEMPT, attempt: 2 })).receive(arrives('c'))).toEqual({ kind: 'start' }));

  it('is refused while too many results wait, and starts when one was acknowledged', () => {
    const journal = holding();
    for (let n = 0; n < JOURNAL_LIMITS.resultsMax; n++) {
      journal.apply(started(`c${n}`));
      journal.apply(finished(`c${n}`));
    }
    expect(journal.receive(arrives('new'))).toMatchObject({
      outcome: { state: 'FAILED', error: { code: 'JOURNAL_FULL' } },
    });
    journal.apply(stored('c0'));
    expect(journal.receive(arrives('new'))).toEqual({ kind: 'start' });
  });

  it('is refused while too large results wait', () => {
    const megabyte = 'x'.repeat(1024 * 1024);
    const journal = holding();
    for (let n = 0; n < 64; n++) {
      journal.apply(started(`c${n}`));
      journal.apply(finished(`c${n}`, megabyte));
    }
    expect(journal.receive(arrives('new'))).toMatchObject({ outcome: { error: { code: 'JOURNAL_FULL' } } });
  });
});

describe('the journal', () => {
  it('delivers what nobody acknowledged, oldest first', () => {
    const journal = holding(started('a'), started('b'), started('c'), finished('b'), finished('a'), stored('b'));
    expect(journal.undelivered()).toEqual(['a']);
    expect(journal.outcomeOf('a')).toEqual(completed('x'));
    expect(journal.outcomeOf('b')).toBeUndefined();
  });

  it('calls what it finds started after a restart unknown, and that only once', () => {
    const journal = holding(started('a', 1_000), started('b'), finished('b'));
    const interrupted = journal.interrupted();
    expect(interrupted).toMatchObject([
      {
        type: 'finished',
        id: 'a',
        outcome: {
          state: 'OUTCOME_UNKNOWN',
          error: { code: 'DEVICE_RESTARTED' },
          startedAt: '1970-01-01T00:00:01.000Z',
        },
      },
    ]);
    for (const record of interrupted) journal.apply(record);
    expect(journal.interrupted()).toEqual([]);
    expect(journal.receive(arrives('a'))).toMatchObject({ kind: 'finished' });
  });

  it('acknowledges a result once and nothing else', () => {
    const journal = holding(started('a'), started('b'), finished('b'));
    expect(journal.storedRecord('a', 5)).toBeUndefined();
    expect(journal.storedRecord('unknown', 5)).toBeUndefined();
    expect(journal.storedRecord('b', 5)).toEqual({ type: 'stored', id: 'b', at: 5, until: 60_000 });
    journal.apply(stored('b'));
    expect(journal.storedRecord('b', 5)).toBeUndefined();
  });

  it('keeps ids and stopped attempts for 7 days, results for ever', () => {
    const journal = holding(
      started('old'),
      finished('old'),
      stored('old'),
      stopped(0, { ...ATTEMPT, attempt: 9 }),
      started('kept'),
      finished('kept'),
    );
    journal.forget(7 * DAY);
    expect(journal.receive(arrives('old'))).toMatchObject({ kind: 'refused' });
    expect(journal.isStopped({ ...ATTEMPT, attempt: 9 })).toBe(true);
    journal.forget(7 * DAY + 1);
    expect(journal.receive(arrives('old'))).toEqual({ kind: 'start' });
    expect(journal.isStopped({ ...ATTEMPT, attempt: 9 })).toBe(false);
    expect(journal.receive(arrives('kept'))).toMatchObject({ kind: 'finished' });
  });

  it.each([
    [[started('a'), started('a')]],
    [[finished('a')]],
    [[started('a'), finished('a'), finished('a')]],
    [[started('a'), stored('a')]],
    [[{ type: 'opened', version: 1, journalId: 'k' } as const]],
  ])('refuses records that cannot have happened %#', (records) => {
    expect(() => holding(...records)).toThrow(JournalError);
  });

  it('is the same after it was rewritten', () => {
    const journal = holding(
      started('a'),
      started('b'),
      finished('b'),
      started('c'),
      finished('c'),
      stored('c', 5),
      stopped(3),
    );
    const read = readJournal(Buffer.from(lineOf([...journal.snapshot()])));
    expect([...(read?.journal.snapshot() ?? [])]).toEqual([...journal.snapshot()]);
    expect(read?.journal.journalId).toBe('j');
  });
});

describe('the file', () => {
  const opened: JournalRecord = { type: 'opened', version: 1, journalId: 'j' };
  const lines = [lineOf([opened]), lineOf([started('a'), started('b')]), lineOf([finished('a')])];

  it('loses a torn last line and nothing before it, wherever it was torn', () => {
    const whole = Buffer.from(lines.join(''));
    const good = Buffer.byteLength(`${lines[0]}${lines[1]}`);
    for (let cut = good; cut < whole.length; cut++) {
      const read = readJournal(whole.subarray(0, cut));
      expect(read).toMatchObject({ goodBytes: good, tornBytes: cut - good });
      expect(read?.journal.receive(arrives('a'))).toEqual({ kind: 'running' });
    }
    expect(readJournal(whole)).toMatchObject({ goodBytes: whole.length, tornBytes: 0 });
  });

  it('loses a last line of which the disk kept only a part', () => {
    const torn = Buffer.from(lines.join(''));
    torn.fill(0, torn.length - 60, torn.length - 20);
    expect(readJournal(torn)?.journal.receive(arrives('a'))).toEqual({ kind: 'running' });
    torn.fill(0, Buffer.byteLength(`${lines[0]}${lines[1]}`));
    expect(readJournal(torn)?.journal.receive(arrives('a'))).toEqual({ kind: 'running' });
  });

  it('refuses damage before the last line, wherever it is', () => {
    const whole = Buffer.from(lines.join(''));
    const before = Buffer.byteLength(`${lines[0]}${lines[1]}`);
    for (let at = 0; at < before; at++) {
      const damaged = Buffer.from(whole);
      damaged[at] = (damaged[at] ?? 0) ^ 1;
      expect(() => readJournal(damaged)).toThrow(JournalError);
    }
  });

  it('begins with its id', () => {
    expect(readJournal(Buffer.alloc(0))).toBeUndefined();
    expect(() => readJournal(Buffer.from(lineOf([started('a')]) + lines[0]))).toThrow(JournalError);
  });
});

/** What a client does with one journal; a crash may come between any two of its steps. */
type Step =
  | { readonly do: 'receive' | 'finish' | 'ack'; readonly id: string }
  | { readonly do: 'stop' }
  | { readonly do: 'crash'; readonly torn: number };

describe('a crash between any two steps', () => {
  const id = fc.constantFrom('a', 'b', 'c');
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 5, arbitrary: fc.record({ do: fc.constant('receive' as const), id }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant('finish' as const), id }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('ack' as const), id }) },
    { weight: 1, arbitrary: fc.constant({ do: 'stop' } as const) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('crash' as const), torn: fc.nat(200) }) },
  );

  it('never runs a command twice and never changes a result that was sent', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const device = new ModelDevice();
        for (const next of steps) device.take(next);
        for (const [ranId, times] of device.effects) expect({ ranId, times }).toEqual({ ranId, times: 1 });
      }),
      { seed: 3, numRuns: 2_000 },
    );
  });
});

/** The order of the real client, with a disk that is a string: a record counts only when its line is whole. */
class ModelDevice {
  disk = lineOf([{ type: 'opened', version: 1, journalId: 'j' }]);
  journal = this.#reopen();
  readonly effects = new Map<string, number>();
  readonly #running = new Set<string>();
  readonly #sent = new Map<string, CommandOutcome>();

  take(next: Step): void {
    switch (next.do) {
      case 'receive':
        return this.#receive(next.id);
      case 'finish':
        return this.#finish(next.id);
      case 'ack':
        return this.#acknowledge(next.id);
      case 'stop':
        return this.#write(stopped());
      case 'crash':
        return this.#crash(next.torn);
    }
  }

  #receive(id: string): void {
    const verdict = this.journal.receive(arrives(id));
    if (verdict.kind === 'finished') this.#send(id, verdict.outcome);
    if (verdict.kind !== 'start') return;
    this.#write(started(id));
    this.effects.set(id, (this.effects.get(id) ?? 0) + 1);
    this.#running.add(id);
  }

  #finish(id: string): void {
    if (!this.#running.delete(id)) return;
    this.#write(finished(id, `${id} ran`));
    this.#send(id, completed(`${id} ran`));
  }

  #acknowledge(id: string): void {
    const record = this.#sent.has(id) ? this.journal.storedRecord(id, 0) : undefined;
    if (record !== undefined) this.#write(record);
  }

  #send(id: string, outcome: CommandOutcome): void {
    expect(this.#sent.get(id) ?? outcome).toEqual(outcome);
    this.#sent.set(id, outcome);
  }

  #write(record: JournalRecord): void {
    this.disk += lineOf([record]);
    this.journal.apply(record);
  }

  /** The process dies, perhaps while it writes a line that it has told nobody about. */
  #crash(torn: number): void {
    const whole = this.disk;
    this.disk += lineOf([started('z')])
      .slice(0, torn)
      .replace(/\n$/, '');
    this.#running.clear();
    this.journal = this.#reopen();
    this.disk = whole;
    for (const record of this.journal.interrupted()) this.#write(record);
    for (const id of this.journal.undelivered()) {
      const outcome = this.journal.outcomeOf(id);
      if (outcome !== undefined) this.#send(id, outcome);
    }
  }

  #reopen(): CommandJournal {
    const read = readJournal(Buffer.from(this.disk));
    if (read === undefined) throw new Error('the journal is gone');
    return read.journal;
  }
}

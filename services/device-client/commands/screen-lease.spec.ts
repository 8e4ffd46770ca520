import { describe, expect, it } from '@jest/globals';
import type { AttemptKey } from '#proto';
import { CommandJournal, type JournalRecord } from './command-journal.js';
import { lineOf, readJournal } from './journal-lines.js';
import { SCREEN_IDLE_MS } from './screen-lease.js';

const AT = 1_000_000;
const of = (taskId: string, attempt = 1, runId = 'r1'): AttemptKey => ({ runId, taskId, attempt });
const acts = (attempt: AttemptKey, at = AT): JournalRecord => ({ type: 'screen', attempt, at, holds: true });
const looks = (attempt: AttemptKey, at = AT): JournalRecord => ({ type: 'screen', attempt, at, holds: false });
const ends = (attempt: AttemptKey, at = AT): JournalRecord => ({ type: 'stopped', attempt, at });

function journalOf(...records: readonly JournalRecord[]): CommandJournal {
  const journal = new CommandJournal('j');
  for (const record of records) journal.apply(record);
  return journal;
}

/** The same after a restart: from the shortest form of its file. */
function again(journal: CommandJournal): CommandJournal {
  const read = readJournal(Buffer.from(lineOf([...journal.snapshot()])));
  if (read === undefined) throw new Error('nothing was written');
  return read.journal;
}

/** What an attempt is told, before a restart and after it. */
function told(records: readonly JournalRecord[], attempt: AttemptKey, now = AT): unknown {
  const journal = journalOf(...records);
  const before = journal.screen.takenFrom(attempt, now);
  expect(again(journal).screen.takenFrom(attempt, now)).toEqual(before);
  expect(again(again(journal)).screen.takenFrom(attempt, now)).toEqual(before);
  return before;
}

const HELD = { kind: 'held', by: of('t1'), until: AT + SCREEN_IDLE_MS };

describe('the screen of a device', () => {
  it('is free for everybody at first, and for who has looked', () => {
    expect(told([], of('t1'))).toBeUndefined();
    expect(told([looks(of('t1'))], of('t2'))).toBeUndefined();
  });

  it('is of the attempt that acts, and of no other task, run or requester', () => {
    expect(told([acts(of('t1'))], of('t1'))).toBeUndefined();
    expect(told([acts(of('t1'))], of('t2'))).toEqual(HELD);
    expect(told([acts(of('t1'))], of('t1', 1, 'r2'))).toEqual(HELD);
  });

  it('is free when the attempt that has it ends, and when another one ends it is not', () => {
    expect(told([acts(of('t1')), ends(of('t1'))], of('t2'))).toBeUndefined();
    expect(told([acts(of('t1')), ends(of('t2'))], of('t3'))).toEqual(HELD);
    expect(told([acts(of('t1')), ends(of('t1', 2))], of('t3'))).toEqual(HELD);
  });

  it('stays free when what was stopped in the middle of an act comes to its end', () =>
    expect(told([acts(of('t1')), ends(of('t1')), acts(of('t1'))], of('t2'))).toBeUndefined());

  it.each([1, -1])('is free after a time without an act, by a clock that goes %d', (way) => {
    const last = [acts(of('t1'), AT - 1), acts(of('t1'))];
    expect(told(last, of('t2'), AT + way * (SCREEN_IDLE_MS - 1))).toEqual(HELD);
    expect(told(last, of('t2'), AT + way * SCREEN_IDLE_MS)).toBeUndefined();
  });

  it.each([
    ['acted', acts(of('t1', 2))],
    ['looked', looks(of('t1', 2))],
  ])('is nothing any more for an attempt whose task has a later one that has %s, for good', (_, later) => {
    const over = { kind: 'over', by: of('t1', 2) };
    expect(told([acts(of('t1')), later], of('t1'))).toEqual(over);
    expect(told([later, ends(of('t1', 2))], of('t1'), AT + 10 * SCREEN_IDLE_MS)).toEqual(over);
    // What an earlier one is told to have done since changes nothing.
    expect(told([later, acts(of('t1'))], of('t1'))).toEqual(over);
  });

  it('is of a later attempt of the same task at once', () => {
    expect(told([acts(of('t1'))], of('t1', 2))).toBeUndefined();
    const by = of('t1', 2);
    expect(told([acts(of('t1')), acts(by)], of('t2'))).toEqual({ ...HELD, by });
  });

  it('remembers so many tasks, those that came last', () => {
    const later = [looks(of('old', 2)), ...Array.from({ length: 64 }, (_, index) => looks(of(`t${index}`, 2)))];
    expect(told(later, of('old'))).toBeUndefined();
    expect(told(later, of('t0'))).toEqual({ kind: 'over', by: of('t0', 2) });
  });
});

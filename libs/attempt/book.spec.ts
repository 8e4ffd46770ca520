import { describe, expect, it, jest } from '@jest/globals';
import { commandIdOf, type AttemptEvent, type Decided } from '#proto';
import { EMPTY_BOOK, emptyRecord, recordFacts } from './book.js';

const KEY = { runId: 'run1', taskId: 'a', attempt: 1 };
const decided = (index: number): AttemptEvent => {
  const decision: Decided = {
    approvalId: commandIdOf(KEY, 1, index),
    decision: 'approved',
    by: { kind: 'person', id: 'operator' },
  };
  return { type: 'ATTEMPT_SIGNALLED', data: { signal: 'decision', ...decision } };
};

describe('a book', () => {
  it('is copied once, however many facts are folded: a long attempt is read in time that grows with its length', () => {
    const known = commandIdOf(KEY, 1, 1_000);
    const book = { ...EMPTY_BOOK, commands: new Map([[known, emptyRecord(known)]]) };
    const events = Array.from({ length: 100 }, (_, index) => decided(index));
    const iterated = jest.spyOn(Map.prototype, Symbol.iterator);
    const after = recordFacts(book, events);
    const copies = iterated.mock.contexts.length;
    iterated.mockRestore();
    expect([copies, after.commands.size, book.commands.size]).toEqual([2, 101, 1]); // steps and commands
  });

  it('stays as it was when facts are added to it', () => {
    const one = recordFacts(EMPTY_BOOK, [decided(0)]);
    recordFacts(one, [decided(1)]);
    expect([EMPTY_BOOK.commands.size, one.commands.size]).toEqual([0, 1]);
  });
});

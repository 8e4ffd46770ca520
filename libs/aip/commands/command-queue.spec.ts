import { describe, expect, it } from '@jest/globals';
import { chooseNext, type QueuedCommand } from './command-queue.js';

const command = (runId: string, state: QueuedCommand['state'] = 'queued', priority = 0): QueuedCommand => ({
  state,
  runId,
  priority,
});
const runOf = (open: QueuedCommand[], turns: [string, number][] = []): string | undefined =>
  chooseNext(open, new Map(turns))?.runId;

describe('chooseNext', () => {
  it('finds nothing when nothing waits', () => {
    expect(runOf([])).toBeUndefined();
    expect(runOf([command('a', 'sent'), command('b', 'running')])).toBeUndefined();
  });

  it('prefers the higher priority over everything else', () =>
    expect(runOf([command('a'), command('b', 'running'), command('b', 'queued', 1)], [['b', 9]])).toBe('b'));

  it('prefers the run that has less at the device, although its last turn was later', () => {
    const open = [command('large', 'sent'), command('large', 'running'), command('large'), command('small')];
    expect(
      runOf(open, [
        ['large', 1],
        ['small', 2],
      ]),
    ).toBe('small');
  });

  it('lets equal runs take turns', () => {
    const open = [command('a'), command('b'), command('c')];
    expect(
      runOf(open, [
        ['a', 3],
        ['b', 1],
        ['c', 2],
      ]),
    ).toBe('b');
    expect(
      runOf(open, [
        ['a', 3],
        ['b', 4],
      ]),
    ).toBe('c');
    expect(runOf(open)).toBe('a');
  });
});

import { describe, expect, it } from '@jest/globals';
import { foldRun, isTerminal } from '#libs/constellation';
import { pipelines, watchedRun } from '#libs/testing';
import { eventTimes, stageMeans } from './event-times.js';

describe('what the bench of the console watches', () => {
  it('is a whole run of so many tasks, one result in each commit', () => {
    const commits = watchedRun('watched', 60);
    const run = foldRun(commits);
    expect(run && isTerminal(run)).toBe(true);
    expect(run?.tasks.length).toBe(60);
    expect(commits.filter(({ events }) => events.some(({ type }) => type === 'TASK_COMPLETED'))).toHaveLength(60);
  });

  it('has lines between neighbours only', () => {
    const { tasks, lines } = pipelines(100);
    const ids = new Set(tasks.map(({ id }) => id));
    expect(lines.every(({ from, to }) => ids.has(from) && ids.has(to))).toBe(true);
    expect(lines.length).toBeGreaterThan(96);
  });

  it('takes the time until an event, or one behind it, is painted, and where it went', () => {
    const given = [
      { event: 3, at: 10, place: 7, storedAt: 12 },
      { event: 5, at: 20, place: 8, storedAt: 21 },
      { event: 6, at: 30, place: 9, storedAt: 31 },
    ];
    const shown = [
      { event: 4, changedAt: 20, at: 25 },
      { event: 6, changedAt: 60, at: 70 },
    ];
    const heard = new Map([
      [7, 15],
      [8, 26],
      [9, 33],
    ]);
    // The second was told to the other client before the log had answered.
    const others = new Map([
      [7, 14],
      [8, 20],
      [9, 34],
    ]);
    const times = eventTimes(given, { shown, heard }, others);
    expect(times).toEqual([
      { all: 15, stages: [2, 2, 1, 5, 5] },
      { all: 50, stages: [1, 0, 5, 34, 10] },
      { all: 40, stages: [1, 3, 0, 26, 10] },
    ]);
    expect(stageMeans(times).slow).toEqual([1, 0, 5, 34, 10]);
    const late = [...given, { event: 7, at: 80, place: 10, storedAt: 81 }];
    expect(() => eventTimes(late, { shown, heard }, others)).toThrow('event 7');
  });
});

import { describe, expect, it } from '@jest/globals';
import { foldRun, isTerminal } from '#libs/constellation';
import { pipelines, watchedRun } from '#libs/testing';
import { latencies } from './console-figures.runner.js';

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

  it('takes the time until an event, or one behind it, is shown', () => {
    const given = [
      { event: 3, at: 10 },
      { event: 5, at: 20 },
      { event: 6, at: 30 },
    ];
    const shown = [
      { event: 4, at: 25 },
      { event: 6, at: 70 },
    ];
    expect(latencies(given, shown)).toEqual([15, 50, 40]);
    expect(() => latencies([...given, { event: 7, at: 80 }], shown)).toThrow('event 7');
  });
});

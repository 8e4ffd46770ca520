import { describe, expect, it } from '@jest/globals';
import { foldRun, isTerminal } from '#libs/constellation';
import { pipelines, watchedRun } from './watched-run.js';

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
});

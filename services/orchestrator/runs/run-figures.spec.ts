import { expect, it } from '@jest/globals';
import { emptyRun, evolveCommit, metricsOf, type Run } from '#libs/constellation';
import { Metrics } from '#libs/platform';
import { generateHistory, runCommitsOf, valueOf } from '#libs/testing';
import type { RunCommit, RunLabels } from '#proto';
import { runFigures } from './run-figures.adapter.js';

/** What a replica counts that stores these commits, by the name of the series. */
async function countedOf(
  commits: readonly RunCommit[],
  figures = newFigures(),
): Promise<(name: string, labels?: Readonly<Record<string, string>>) => number> {
  let before: Run | undefined;
  for (const commit of commits) {
    const after = evolveCommit(before, commit);
    figures.of({ before: before ?? emptyRun(commit.runId), after, events: commit.events, now: Date.parse(commit.at) });
    before = after;
  }
  const text = await figures.text();
  return (name, labels = {}) => valueOf(text, `orrery_${name}`, labels) ?? 0;
}

function newFigures(...labelKeys: string[]) {
  const metrics = new Metrics('test');
  return { of: runFigures(metrics, labelKeys), text: () => metrics.text() };
}

const factsOf = (commits: readonly RunCommit[], ...types: string[]) =>
  commits.flatMap(({ events }) => events).filter(({ type }) => types.includes(type));

it.each([1, 2, 3, 4, 5, 6, 7, 8])('counts of history %d what its report measures', async (seed) => {
  const commits = runCommitsOf(generateHistory({ seed, tasks: 9 }));
  const counted = await countedOf(commits);
  const measured = metricsOf(commits);
  expect(counted('runs_begun_total')).toBe(1);
  expect(counted('runs_ended_total')).toBe(factsOf(commits, 'RUN_COMPLETED', 'RUN_FAILED', 'RUN_CANCELLED').length);
  expect(counted('run_seconds_sum') * 1_000).toBeCloseTo(measured?.endToEndMs ?? 0, 3);
  expect(counted('task_queue_seconds_count')).toBe(factsOf(commits, 'TASK_STARTED').length);
  expect(counted('task_seconds_count', { outcome: 'completed' })).toBe(factsOf(commits, 'TASK_COMPLETED').length);
  expect(counted('task_queue_seconds_sum')).toBeGreaterThanOrEqual(0);
});

/** The same history, asked for with these labels. */
const labelled = (commits: readonly RunCommit[], labels: RunLabels): RunCommit[] =>
  commits.map((commit) => ({
    ...commit,
    events: commit.events.map((event) =>
      event.type === 'RUN_REQUESTED' ? { ...event, data: { ...event.data, labels } } : event,
    ),
  }));

it('tells ends apart by the labels that it is told of, and by no others', async () => {
  const commits = runCommitsOf(generateHistory({ seed: 1, tasks: 2 }));
  const figures = newFigures('team', 'env');
  await countedOf(labelled(commits, { team: 'db', ticket: 'T-1' }), figures);
  await countedOf(labelled(commits, { team: 'db', env: 'prod' }), figures);
  const counted = await countedOf(labelled(commits, { team: 'web' }), figures);
  const ends = counted('runs_ended_total') / 3;
  expect(ends).toBeGreaterThan(0);
  const by = (label: string, value?: string) =>
    counted('labelled_runs_ended_total', { label, ...(value !== undefined && { value }) }) / ends;
  expect([by('team', 'db'), by('team', 'web'), by('env', 'prod'), by('env')]).toEqual([2, 1, 1, 1]);
  expect(await figures.text()).not.toContain('T-1');
});

it('bears somebody who thinks of a new value for every run', async () => {
  const commits = runCommitsOf(generateHistory({ seed: 1, tasks: 1 }));
  const figures = newFigures('team');
  for (let number = 0; number < 130; number += 1) await countedOf(labelled(commits, { team: `t${number}` }), figures);
  const counted = await countedOf(labelled(commits, { team: 't7' }), figures);
  const ends = counted('labelled_runs_ended_total', { value: 't99' });
  const others = counted('labelled_runs_ended_total', { value: '(other)' });
  expect({ t7: counted('labelled_runs_ended_total', { value: 't7' }), others }).toEqual({
    t7: 2 * ends,
    others: 30 * ends,
  });
  expect(counted('labelled_runs_ended_total', { value: 't100' })).toBe(0);
});

import { expect, it } from '@jest/globals';
import { Metrics } from '#libs/platform';
import { valueOf } from '#libs/testing';
import type { Appended, EventLog } from './event-log.js';
import { meteredLog } from './metered-log.js';

interface Commit {
  readonly events: readonly { readonly type: string }[];
}

const COMMIT: Commit = { events: [{ type: 'TASK_STARTED' }, { type: 'TASK_STARTED' }, { type: 'RUN_PAUSED' }] };

function logThat(append: () => Promise<Appended>): EventLog<string, Commit> {
  return { append, load: async () => [{ commit: COMMIT, sequence: 3 }], endsAt: async () => 3 };
}

it('an append is timed by how it ends; only what is stored counts as a fact, and conflicts are counted', async () => {
  const metrics = new Metrics('test');
  const told: Commit[] = [];
  const outcomes: (() => Promise<Appended>)[] = [
    async () => ({ kind: 'appended', sequence: 1 }),
    async () => ({ kind: 'conflict' }),
    () => Promise.reject(new Error('away')),
  ];
  const log = meteredLog(
    logThat(() => outcomes.shift()?.() ?? Promise.reject(new Error('over'))),
    { metrics, stream: 'RUNS', appended: (commit) => void told.push(commit) },
  );
  expect(valueOf(await metrics.text(), 'orrery_append_conflicts_total', { stream: 'RUNS' })).toBe(0);
  expect(await log.append('run1', COMMIT, 0)).toEqual({ kind: 'appended', sequence: 1 });
  expect(await log.append('run1', COMMIT, 0)).toEqual({ kind: 'conflict' });
  await expect(log.append('run1', COMMIT, 0)).rejects.toThrow('away');
  expect(told).toEqual([COMMIT]);
  const text = await metrics.text();
  expect(text).toContain('orrery_facts_total{stream="RUNS",type="TASK_STARTED",service="test"} 2');
  expect(text).toContain('orrery_facts_total{stream="RUNS",type="RUN_PAUSED",service="test"} 1');
  expect(text).toContain('orrery_append_conflicts_total{stream="RUNS",service="test"} 1');
  for (const outcome of ['appended', 'conflict', 'failed'])
    expect(valueOf(text, 'orrery_append_seconds_count', { stream: 'RUNS', outcome })).toBe(1);
});

it('reading goes through as it is', async () => {
  const log = meteredLog(
    logThat(async () => ({ kind: 'conflict' })),
    { metrics: new Metrics('test'), stream: 'RUNS' },
  );
  expect(await log.load('run1')).toEqual([{ commit: COMMIT, sequence: 3 }]);
  expect(await log.endsAt('run1')).toBe(3);
});

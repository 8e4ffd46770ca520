import { describe, expect, it } from '@jest/globals';
import { evolveCommit, viewOf, type Run } from '#libs/constellation';
import { generateEditedHistory, runCommitsOf, watchedRun } from '#libs/testing';
import { TaskBars, TaskNames } from './bars.js';
import { played } from './playing.testing.js';
import { filtersIn, matches, searchOf } from './run-filters.js';
import { RunRecord } from './run-record.js';

const COMMITS = runCommitsOf(generateEditedHistory({ seed: 3, tasks: 120 }));
const RECORD = RunRecord.EMPTY.with(COMMITS);
const foldOf = (count: number): Run | undefined =>
  COMMITS.slice(0, count).reduce<Run | undefined>(evolveCommit, undefined);

describe('the record of a run', () => {
  it('is at every moment what a fold of the commits until then gives', () => {
    expect(COMMITS.length).toBeGreaterThan(40); // beyond the second state that is kept
    for (const count of [1, 2, 15, 16, 17, 32, 33, COMMITS.length]) {
      const [run, folded] = [RECORD.after(count), foldOf(count)];
      expect(run && viewOf(run)).toEqual(folded && viewOf(folded));
    }
  });

  it('is the same however the commits come: in parts, again, one at a time', () => {
    const parts = RunRecord.EMPTY.with(COMMITS.slice(0, 9)).with(COMMITS.slice(3, 30)).with(COMMITS);
    expect(parts.last?.hash).toBe(RECORD.last?.hash);
    expect(parts.commits).toHaveLength(COMMITS.length);
    expect(parts.with(COMMITS)).toBe(parts);
  });

  it('does not go on over a gap', () =>
    expect(() => RunRecord.EMPTY.with(COMMITS.slice(1))).toThrow('commit 1 of run'));

  it('finds the whole commits up to an event, and at least the first', () => {
    for (const count of [1, 5, COMMITS.length]) expect(RECORD.countAt(RECORD.sequenceOf(count))).toBe(count);
    expect([RECORD.countAt(0), RECORD.countAt(1e9)]).toEqual([1, COMMITS.length]);
  });
});

describe('playing', () => {
  it('comes to the end at any speed, and never goes back', () => {
    for (const speed of [1, 100] as const) {
      const counts = played(COMMITS, speed);
      expect(counts).toEqual([...counts].sort((left, right) => left - right));
      expect(counts.at(-1)).toBe(COMMITS.length);
    }
  });
});

describe('the bars of a timeline', () => {
  it('are those of the attempts that were started', () => {
    const started = COMMITS.flatMap(({ events }) => events.filter(({ type }) => type === 'TASK_STARTED'));
    expect(new TaskBars().of(COMMITS).flatMap(({ bars }) => bars)).toHaveLength(started.length);
  });

  it('has the names of tasks in the same map until one is called otherwise', () => {
    const names = new TaskNames();
    const first = names.of([
      { id: 'a', name: 'Look' },
      { id: 'b', name: '' },
    ]);
    expect([...first]).toEqual([
      ['a', 'Look'],
      ['b', 'b'],
    ]);
    expect(
      names.of([
        { id: 'a', name: 'Look' },
        { id: 'b', name: '' },
      ]),
    ).toBe(first);
    expect(
      names
        .of([
          { id: 'a', name: 'Look again' },
          { id: 'b', name: '' },
        ])
        .get('a'),
    ).toBe('Look again');
  });

  it('are the same however one comes to a moment', () => {
    const bars = new TaskBars();
    for (const count of [1, COMMITS.length, 7, 8, COMMITS.length])
      expect(bars.of(COMMITS.slice(0, count))).toEqual(new TaskBars().of(COMMITS.slice(0, count)));
  });

  it('are made again for what an event says, and for nothing else of 1,000 tasks', () => {
    const [bars, watched] = [new TaskBars(), watchedRun('counted', 1_000)];
    let before = bars.of(watched.slice(0, 500));
    for (let count = 501; count <= 600; count++) {
      const [made, rows] = [bars.made, bars.of(watched.slice(0, count))];
      const changed = rows.filter((row, at) => row !== before[at]).length;
      expect(bars.made - made).toBe(changed);
      expect(changed).toBeLessThanOrEqual(4);
      before = rows;
    }
  });
});

describe('filters', () => {
  const summary = {
    name: 'Nightly <b>backup</b>',
    runId: '0abc',
    requestId: 'q',
    requestedBy: 'anna',
    tasks: 1,
    sequence: 1,
  };
  const run = {
    ...summary,
    status: 'FAILED',
    outcome: null,
    requestedAt: '',
    endedAt: null,
    labels: { team: 'db' },
  } as const;

  it.each(['', '?words=backup', '?status=FAILED%2CRUNNING', '?words=a&by=anna&device=web-1&label=team%3Ddb'])(
    'are the same after the address %j',
    (address) => expect(searchOf(filtersIn(new URLSearchParams(address)))).toBe(address),
  );

  it('find by all of the words, wherever they stand, and by status', () => {
    const found = (search: string): boolean => matches(filtersIn(new URLSearchParams(search)), run);
    expect(['words=BACKUP team=db', 'words=anna', 'status=FAILED', 'status=nonsense'].map(found)).toEqual([
      true,
      true,
      true,
      true,
    ]);
    expect(['words=backup weekly', 'status=RUNNING'].map(found)).toEqual([false, false]);
  });
});

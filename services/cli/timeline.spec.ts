import { describe, expect, it } from '@jest/globals';
import type { RecordedRunEvent, RunCommit, RunEvent } from '#proto';
import { see, viewOfWatched, watchFrom } from './live-view.js';
import { commitsOf } from './run-history.js';
import { sampleRecords, SAMPLE_RUN } from './testing/sample-run.js';
import { timelineOf } from './timeline.js';

const AT = '2026-11-20T12:01:02.489Z';
const commits = commitsOf(SAMPLE_RUN, sampleRecords());
const lineOf = (event: RunEvent): string => {
  const recorded: RecordedRunEvent = { id: 'e', sequence: 1, schemaVersion: 1, ...event };
  const [line = ''] = timelineOf({ at: AT } as RunCommit, [recorded]);
  return line;
};
const counts = { completed: 1, failed: 2, skipped: 0, cancelled: 0 };

describe('timelineOf', () => {
  const cases: [string, RunEvent][] = [
    [
      '12:01:02 TASK_COMPLETED a (exit code 0)',
      {
        type: 'TASK_COMPLETED',
        data: {
          taskId: 'a',
          attempt: 1,
          result: { value: { exit_code: 0 } },
          lines: [],
          completedAt: AT,
          attemptHash: '',
        },
      },
    ],
    [
      '12:01:02 TASK_FAILED a: TIMEOUT did not end',
      {
        type: 'TASK_FAILED',
        data: {
          taskId: 'a',
          attempt: 1,
          error: { code: 'TIMEOUT', message: 'did not end', outcome: 'timed_out' },
          lines: [],
          failedAt: AT,
          attemptHash: null,
        },
      },
    ],
    [
      '12:01:02 TASK_STOP_REQUESTED a (timeout)',
      {
        type: 'TASK_STOP_REQUESTED',
        data: { taskId: 'a', attempt: 1, reason: 'timeout', requestedAt: AT, graceUntil: AT },
      },
    ],
    [
      '12:01:02 TASK_REOPENED a for attempt 2',
      { type: 'TASK_REOPENED', data: { taskId: 'a', attempt: 1, reason: 'retry_policy', notBefore: AT } },
    ],
    [
      '12:01:02 TASK_SKIPPED a: exit_code was 1',
      {
        type: 'TASK_SKIPPED',
        data: { taskId: 'a', by: 'condition', lineId: 'l', reason: 'exit_code was 1', lines: [], skippedAt: AT },
      },
    ],
    [
      '12:01:02 TASK_CANCELLED a (run_deadline)',
      { type: 'TASK_CANCELLED', data: { taskId: 'a', attempt: 0, reason: 'run_deadline', lines: [], cancelledAt: AT } },
    ],
    [
      '12:01:02 RUN_COMPLETED partially_failed (1 completed, 2 failed)',
      { type: 'RUN_COMPLETED', data: { outcome: 'partially_failed', counts, completedAt: AT } },
    ],
    [
      '12:01:02 RUN_FAILED NO_TASK: none completed (1 completed, 2 failed)',
      { type: 'RUN_FAILED', data: { reason: { code: 'NO_TASK', message: 'none completed' }, counts, failedAt: AT } },
    ],
    ['12:01:02 RUN_PAUSED by system: dlq', { type: 'RUN_PAUSED', data: { by: 'system', reason: 'dlq', pausedAt: AT } }],
    [
      '12:01:02 RUN_ANNOTATED a: a late result',
      {
        type: 'RUN_ANNOTATED',
        data: { kind: 'late_result', taskId: 'a', attempt: 1, text: 'a late result', attemptHash: '', annotatedAt: AT },
      },
    ],
  ];
  it.each(cases)('%s', (line, event) => expect(lineOf(event)).toBe(line));

  it('says which attempt it is from the second one on', () => {
    const started = commits[0]?.events[2];
    if (started?.type !== 'TASK_STARTED') throw new Error('the sample has changed');
    expect(lineOf({ ...started, data: { ...started.data, attempt: 2 } })).toBe(
      '12:01:02 TASK_STARTED a on web-1 (attempt 2)',
    );
  });

  it('lets nothing of a device reach the terminal that is not text', () => {
    const error = { code: 'X', message: 'a\u001B[2J\nb\u0007', outcome: 'failed' as const };
    expect(
      lineOf({
        type: 'TASK_FAILED',
        data: { taskId: 'a', attempt: 1, error, lines: [], failedAt: AT, attemptHash: null },
      }),
    ).toBe('12:01:02 TASK_FAILED a: X a b');
  });
});

describe('a watcher', () => {
  it('is told every event once, however often a commit comes', () => {
    const [first, second, third] = commits;
    let watched = watchFrom(SAMPLE_RUN);
    const told: string[] = [];
    for (const commit of [first, first, second, first, second, third, third]) {
      if (commit === undefined) throw new Error('the sample has changed');
      const seen = see(watched, commit);
      watched = seen.watched;
      told.push(...seen.lines);
    }
    expect(told).toHaveLength(7);
    expect(new Set(told).size).toBe(7);
    expect(watched.ended).toBe(true);
    expect(viewOfWatched(watched)).toMatchObject({ status: 'COMPLETED', outcome: 'succeeded' });
  });
});

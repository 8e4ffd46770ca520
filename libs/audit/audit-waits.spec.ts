import { describe, expect, it } from '@jest/globals';
import { foldEvents, foldRun, type Run } from '#libs/constellation';
import type { RecordedRunEvent, RunEvent } from '#proto';
import { runCommitsOf, editedRun } from '#libs/testing';
import { illegal } from './transitions.js';

const { AT, Told } = editedRun;

const SINCE = Date.parse(AT);
const later = (ms: number) => new Date(SINCE + ms).toISOString();
const recorded = (event: RunEvent): RecordedRunEvent => ({ id: 'run-1-9', sequence: 9, schemaVersion: 1, ...event });
const begins = (...began: string[]): RunEvent => ({ type: 'TASKS_WAITING', data: { began, over: [], at: AT } });
const ends = (...over: string[]): RunEvent => ({ type: 'TASKS_WAITING', data: { began: [], over, at: AT } });
const failsAt = (ms: number): RunEvent => {
  const error = { code: 'DEVICE_UNAVAILABLE', message: 'nobody came', outcome: 'failed' } as const;
  return {
    type: 'TASK_FAILED',
    data: { taskId: 'a', attempt: 0, error, lines: [], failedAt: later(ms), attemptHash: null },
  };
};

/** A run whose task a is ready, and whose request bounds the wait. */
function ready(): Run {
  const [first] = runCommitsOf(new Told().steps);
  if (first === undefined) throw new Error('a history has commits');
  const events = first.events.filter(({ type }) => type !== 'TASK_STARTED');
  const run = foldRun([{ ...first, events }]);
  if (run === undefined || run.request === null) throw new Error('a history has a request');
  const options = { ...run.request.options, deviceAskMs: 1_000, deviceWaitMs: 5_000 };
  return { ...run, request: { ...run.request, options } };
}

function asks(run: Run, ms: number): RunEvent {
  return {
    type: 'EDIT_OPENED',
    data: {
      editId: 'e1',
      mode: 'editing',
      triggers: [{ kind: 'device', taskId: 'a' }],
      revision: run.revision,
      lockPolicy: 'scoped',
      openedAt: later(ms),
      deadlineAt: later(ms + 1_000),
    },
  };
}

describe('a wait for a device', () => {
  const waiting = () => foldEvents(ready(), [begins('a')]);

  it('is legal as the orchestrator records it', () => {
    expect(illegal(ready(), recorded(begins('a')))).toBeUndefined();
    expect(illegal(waiting(), recorded(ends('a')))).toBeUndefined();
    expect(illegal(waiting(), recorded(asks(waiting(), 1_000)))).toBeUndefined();
    expect(illegal(waiting(), recorded(failsAt(5_000)))).toBeUndefined();
  });

  it.each<[string, Run, RunEvent, string]>([
    ['begins twice', waiting(), begins('a'), 'TASKS_WAITING: a is not ready, or waits already'],
    ['is of a task that is not ready', ready(), begins('b'), 'TASKS_WAITING: b is not ready, or waits already'],
    [
      'is of a task that does not begin to',
      ready(),
      { type: 'TASKS_WAITING', data: { began: ['a'], over: [], at: AT, why: [{ tasks: ['b'], text: 'b is away' }] } },
      'TASKS_WAITING: it says why b waits, which does not begin to',
    ],
    ['is over before it began', ready(), ends('a'), 'TASKS_WAITING: a does not wait for a device'],
    ['is asked about too soon', waiting(), asks(waiting(), 999), 'EDIT_OPENED: its triggers are not what'],
    [
      'ends too soon',
      waiting(),
      failsAt(4_999),
      'TASK_FAILED of a: it has not waited for a device as long as it might',
    ],
    ['ends without having begun', ready(), failsAt(9_999), 'TASK_FAILED of a: it has not waited for a device'],
  ])('is noticed when it %s', (_, run, event, why) => {
    expect(illegal(run, recorded(event))).toContain(why);
  });
});

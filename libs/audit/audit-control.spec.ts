import { describe, expect, it } from '@jest/globals';
import { forkHistory, runCommitsOf, type History, editedRun } from '#libs/testing';
import { auditRun } from './audit-run.js';
import { findingText } from './findings.js';

const { altered, AT, dataOf, LATE, OPERATOR, recordsOf, RUN, star, Told } = editedRun;
type Groups = editedRun.Groups;

describe('what people do to runs', () => {
  const cancelled = () => new Told().obeys({ verb: 'CANCEL', reason: 'enough' }).ends('a');
  const finished = () => new Told().ends('a').proposes(1, {}).ends('b', true).proposes(1, { state: 'FINISH' });
  const retried = () => cancelled().obeys({ verb: 'RETRY', taskId: 'a' });
  const said = () => cancelled().obeys({ verb: 'SAY', text: 'also look at db-2' });

  const noted = () =>
    cancelled().obeys({ verb: 'ANNOTATE', text: 'look here', taskId: 'a' }).obeys({ verb: 'ANNOTATE', text: '!' });

  const retriedWhileRunning = () => new Told().obeys({ verb: 'RETRY', taskId: 'a' }).ends('a');
  // Another try is asked for, then the end of everything: the second stop asks for more.
  const both = new Told().obeys({ verb: 'RETRY', taskId: 'a' }).obeys({ verb: 'CANCEL' }).ends('a');

  it('is legal as the orchestrator decides it', () => {
    for (const history of [cancelled(), retried(), said(), finished(), noted(), retriedWhileRunning(), both]) {
      expect(auditRun(RUN, recordsOf(history.steps)).findings.map(findingText)).toEqual([]);
    }
  });

  const discarded = {
    type: 'WORKSPACE_DISCARDED' as const,
    data: { deviceId: 'web-1', by: OPERATOR, discardedAt: AT },
  };
  const counts = { completed: 0, failed: 0, skipped: 0, cancelled: 3 };
  const cases: [string, () => History, (groups: Groups) => unknown, string][] = [
    [
      'a note about a task that is none',
      noted,
      (groups) => void Object.assign(dataOf(groups, 'RUN_ANNOTATED'), { taskId: 'z' }),
      'RUN_ANNOTATED is about "z", which is no task of this run',
    ],
    [
      'a start while the run is paused',
      () => new Told(),
      (groups) => groups[0]?.splice(2, 0, { type: 'RUN_PAUSED', data: { by: 'system', reason: 'dlq', pausedAt: AT } }),
      'TASK_STARTED of a: the run is paused',
    ],
    [
      'a directory that goes while the run goes on',
      () => new Told(),
      (groups) => groups.push([discarded]),
      'WORKSPACE_DISCARDED: the run has not ended',
    ],
    [
      'a directory that goes from where there was none',
      cancelled,
      (groups) => groups.push([discarded]),
      'WORKSPACE_DISCARDED: the run had no directory on web-1',
    ],
    [
      'a pause of nobody',
      () => new Told().obeys({ verb: 'PAUSE' }),
      (groups) => delete dataOf(groups, 'RUN_PAUSED').actor,
      'RUN_PAUSED does not say who did it',
    ],
    [
      'a run that goes on without having been paused',
      () => new Told(),
      (groups) => groups.push([{ type: 'RUN_RESUMED', data: { by: OPERATOR, resumedAt: AT } }]),
      'RUN_RESUMED: the run is not paused',
    ],
    [
      'an end that is taken back for nothing',
      retried,
      (groups) => void groups[3]?.splice(1),
      'RUN_REOPENED opens no task again',
    ],
    [
      'an end that is taken back for words that nobody said',
      said,
      (groups) => void groups[3]?.splice(1),
      'RUN_REOPENED opens no task again',
    ],
    [
      'an end that is taken back before it came',
      () => new Told(),
      (groups) => groups.push([{ type: 'RUN_REOPENED', data: { by: OPERATOR, reopenedAt: AT, deadlineAt: LATE } }]),
      'RUN_REOPENED: the run has not ended',
    ],
    [
      'a task that runs and is cancelled unasked',
      cancelled,
      (groups) => groups[1]?.splice(0, 1),
      'TASK_CANCELLED of a: it runs and nobody asked it to stop',
    ],
    [
      'a task that is cancelled for another reason',
      cancelled,
      (groups) => {
        const [event] = groups[2] ?? [];
        if (event?.type === 'TASK_CANCELLED') event.data.reason = 'run_deadline';
      },
      'TASK_CANCELLED of a: it was told to stop for another reason (cancelled)',
    ],
    [
      'a stop of nobody',
      cancelled,
      (groups) => delete dataOf(groups, 'TASK_STOP_REQUESTED').by,
      'TASK_STOP_REQUESTED of a: it does not say who asked for it',
    ],
    [
      'a stop that is asked for twice',
      cancelled,
      (groups) => groups[1]?.push({ type: 'TASK_STOP_REQUESTED', data: dataOf(groups, 'TASK_STOP_REQUESTED') }),
      'TASK_STOP_REQUESTED of a: it was told to stop before (cancelled)',
    ],
    [
      'an output that the stopped attempt never made',
      cancelled,
      (groups) => {
        const [event] = groups[2] ?? [];
        if (event?.type === 'TASK_CANCELLED') event.data.output = { value: 'better' };
      },
      'TASK_CANCELLED of a: the result is not the one that attempt 1 recorded',
    ],
    [
      'a run that ends for another reason',
      cancelled,
      (groups) =>
        groups[2]?.splice(1, 1, {
          type: 'RUN_FAILED',
          data: { reason: { code: 'X1', message: 'no' }, counts, failedAt: AT },
        }),
      'RUN_FAILED: the run was to end as cancelled',
    ],
    [
      'another try of what completed',
      () => new Told().ends('a'),
      (groups) =>
        groups.push([
          { type: 'TASK_REOPENED', data: { taskId: 'a', attempt: 1, reason: 'operator', by: OPERATOR, notBefore: AT } },
        ]),
      'TASK_REOPENED of a: it is COMPLETED',
    ],
    [
      'another try that nobody asked for',
      retried,
      (groups) => delete dataOf(groups, 'TASK_REOPENED').by,
      'TASK_REOPENED of a: it does not say who asked for it',
    ],
    [
      'another try that no policy allows',
      retried,
      (groups) => Object.assign(dataOf(groups, 'TASK_REOPENED'), { reason: 'retry_policy' }),
      'TASK_REOPENED of a: it is CANCELLED, and a retry policy is for what FAILED',
    ],
    [
      'a line that is open again though its task has run',
      retried,
      (groups) => Object.assign(dataOf(groups, 'TASK_REOPENED'), { lines: ['b-c'] }),
      'TASK_REOPENED of a: line b-c cannot be open again',
    ],
    [
      'a task that was stopped for another try and got none',
      retriedWhileRunning,
      (groups) => void groups[2]?.splice(1),
      'TASK_CANCELLED of a: it was to be tried again and is not open',
    ],
    [
      'another try before its time',
      () => new Told().ends('a', true),
      (groups) => {
        const [task] = dataOf(groups, 'RUN_REQUESTED').constellation?.tasks ?? [];
        Object.assign(task ?? {}, { retry: { attempts: 2, backoffMs: 500 } });
        const again = { ...dataOf(groups, 'TASK_STARTED'), attempt: 2 };
        groups[1]?.splice(
          1,
          1,
          { type: 'TASK_REOPENED', data: { taskId: 'a', attempt: 1, reason: 'retry_policy', notBefore: LATE } },
          { type: 'TASK_STARTED', data: again },
        );
      },
      `TASK_STARTED of a: it may not start before ${LATE}`,
    ],
    [
      'another try that the policy does not allow any more',
      () => new Told().ends('a', true),
      (groups) =>
        groups[1]?.splice(1, 1, {
          type: 'TASK_REOPENED',
          data: { taskId: 'a', attempt: 1, reason: 'retry_policy', notBefore: AT },
        }),
      'TASK_REOPENED of a: its retry policy allows 1 attempts, and there were 1',
    ],
    [
      'another try in a run that is about to end',
      cancelled,
      (groups) =>
        groups[1]?.push({
          type: 'TASK_REOPENED',
          data: { taskId: 'b', attempt: 0, reason: 'operator', by: OPERATOR, notBefore: AT },
        }),
      'TASK_REOPENED of b: the run is about to end',
    ],
    [
      'a line that is open again and is none',
      retried,
      (groups) => Object.assign(dataOf(groups, 'TASK_REOPENED'), { lines: ['nope'] }),
      'TASK_REOPENED of a: line nope cannot be open again',
    ],
    [
      'a start in a run that is about to end',
      () => new Told().ends('a').proposes(1, { state: 'FINISH' }),
      (groups) =>
        groups[2]?.splice(1, 0, {
          type: 'TASK_STARTED',
          data: { ...dataOf(groups, 'TASK_STARTED'), taskId: 'b', command: star('b').command },
        }),
      'TASK_STARTED of b: the run is about to end',
    ],
    [
      'an edit of a run that is about to end',
      cancelled,
      (groups) =>
        groups[1]?.push({
          type: 'CONSTELLATION_MODIFIED',
          data: {
            revision: 1,
            origin: 'operator',
            tasks: 3,
            lines: 2,
            modifiedAt: AT,
            edits: [],
            proposedBy: OPERATOR,
          },
        }),
      'CONSTELLATION_MODIFIED: the run is about to end',
    ],
    [
      'a round in a run that is about to end',
      cancelled,
      (groups) =>
        groups[1]?.push({
          type: 'EDIT_OPENED',
          data: {
            editId: 'e1',
            mode: 'editing',
            triggers: [{ kind: 'end-of-plan' }],
            revision: 1,
            lockPolicy: 'scoped',
            openedAt: AT,
            deadlineAt: LATE,
          },
        }),
      'EDIT_OPENED: the run is about to end',
    ],
    [
      'an attempt that is left out',
      () => new Told(),
      (groups) => Object.assign(dataOf(groups, 'TASK_STARTED'), { attempt: 2 }),
      'TASK_STARTED of a: attempt 2 follows 0',
    ],
    [
      'something before the first event',
      () => new Told(),
      (groups) => groups[0]?.shift(),
      'CONSTELLATION_MODIFIED comes before RUN_REQUESTED or RUN_FORKED',
    ],
    [
      'an end that counts other tasks',
      finished,
      (groups) => Object.assign(dataOf(groups, 'RUN_COMPLETED'), { counts }),
      'the counts of the end are not those of the tasks',
    ],
    [
      'an end in the middle of a round',
      finished,
      (groups) => groups.at(-1)?.shift(),
      'the run ends while the edit round e2 is open',
    ],
    [
      'an outcome that is better than the tasks',
      finished,
      (groups) => Object.assign(dataOf(groups, 'RUN_COMPLETED'), { outcome: 'succeeded' }),
      'the outcome is succeeded, and 1 tasks failed',
    ],
    [
      'a fork in the middle',
      () => new Told(),
      (groups) => {
        const steps = forkHistory(new Told().steps, { at: 3, seed: 1 });
        const [event] = runCommitsOf(steps)[0]?.events ?? [];
        if (event?.type === 'RUN_FORKED') groups.push([{ type: event.type, data: event.data }]);
      },
      'RUN_FORKED is not the first event',
    ],
    [
      'something after the end',
      cancelled,
      (groups) => groups.push([{ type: 'RUN_PAUSED', data: { by: 'system', reason: 'x', pausedAt: AT } }]),
      'RUN_PAUSED comes after the end of the run',
    ],
  ];
  it.each(cases)('is noticed when there is %s', (_, history, alter, finding) =>
    expect(altered(history(), alter)).toContain(finding),
  );
});

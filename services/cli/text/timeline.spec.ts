import { describe, expect, it } from '@jest/globals';
import type { RecordedRunEvent, RunCommit, RunEvent } from '#proto';
import { see, viewOfWatched, watchFrom } from '../live/live-view.js';
import { commitsOf } from '../sources/run-history.js';
import { APPROVAL_ID, COMMAND_ASK, QUESTION_ASK } from '../testing/sample-asks.js';
import { sampleRecords, SAMPLE_RUN } from '../testing/sample-run.js';
import { timelineOf } from './timeline.js';

const AT = '2026-11-20T12:01:02.489Z';
const SAID = '2026-11-20 12:01:02Z';
const commits = commitsOf(SAMPLE_RUN, sampleRecords());
const lineOf = (event: RunEvent): string => {
  const recorded: RecordedRunEvent = { id: 'e', sequence: 1, schemaVersion: 1, ...event };
  const [line = ''] = timelineOf({ at: AT } as RunCommit, [recorded]);
  return line;
};
const ANNA = { kind: 'person' as const, id: 'anna' };
const DECIDED = { taskId: 'web', attempt: 1, approvalId: APPROVAL_ID, by: ANNA, decidedAt: AT };
const PLANNER = { kind: 'system' as const, id: 'planner' };
const MODIFIED = { revision: 2, tasks: 3, lines: 1, modifiedAt: AT };
const FORKED = {
  requestId: 'f',
  namespace: 'default',
  parent: { runId: 'p1', sequence: 9, number: 4, hash: '' },
  contentHash: '',
  goal: null,
  options: {},
  metadata: {},
  requestedBy: ANNA,
  forkedAt: AT,
  deadlineAt: AT,
  name: 'plan',
  revision: 2,
  usedIds: [],
  triggers: [],
};
const counts = { completed: 1, failed: 2, skipped: 0, cancelled: 0 };

describe('timelineOf', () => {
  const cases: [string, RunEvent][] = [
    [
      '12:01:02Z TASK_COMPLETED a (exit code 0)',
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
      '12:01:02Z TASK_FAILED a: TIMEOUT did not end',
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
      '12:01:02Z TASK_STOP_REQUESTED a (timeout)',
      {
        type: 'TASK_STOP_REQUESTED',
        data: { taskId: 'a', attempt: 1, reason: 'timeout', requestedAt: AT, graceUntil: AT },
      },
    ],
    [
      '12:01:02Z TASK_REOPENED a for attempt 2',
      { type: 'TASK_REOPENED', data: { taskId: 'a', attempt: 1, reason: 'retry_policy', notBefore: AT } },
    ],
    [
      '12:01:02Z TASK_SKIPPED a: exit_code was 1',
      {
        type: 'TASK_SKIPPED',
        data: { taskId: 'a', by: 'condition', lineId: 'l', reason: 'exit_code was 1', lines: [], skippedAt: AT },
      },
    ],
    [
      '12:01:02Z TASK_CANCELLED a (run_deadline)',
      { type: 'TASK_CANCELLED', data: { taskId: 'a', attempt: 0, reason: 'run_deadline', lines: [], cancelledAt: AT } },
    ],
    [
      '12:01:02Z RUN_COMPLETED partially_failed (1 completed, 2 failed)',
      { type: 'RUN_COMPLETED', data: { outcome: 'partially_failed', counts, completedAt: AT } },
    ],
    [
      '12:01:02Z RUN_FAILED NO_TASK: none completed (1 completed, 2 failed)',
      { type: 'RUN_FAILED', data: { reason: { code: 'NO_TASK', message: 'none completed' }, counts, failedAt: AT } },
    ],
    [
      '12:01:02Z TASK_STOP_REQUESTED a (cancelled by anna: wrong device)',
      {
        type: 'TASK_STOP_REQUESTED',
        data: {
          taskId: 'a',
          attempt: 1,
          reason: 'cancelled',
          by: ANNA,
          note: 'wrong device',
          requestedAt: AT,
          graceUntil: AT,
        },
      },
    ],
    [
      '12:01:02Z TASK_CANCELLED a (cancelled by anna) (exit code 143)',
      {
        type: 'TASK_CANCELLED',
        data: {
          taskId: 'a',
          attempt: 1,
          reason: 'cancelled',
          by: ANNA,
          lines: [],
          cancelledAt: AT,
          output: { value: { exit_code: 143 } },
          attemptHash: '',
        },
      },
    ],
    [
      '12:01:02Z TASK_REOPENED a for attempt 1 by anna',
      { type: 'TASK_REOPENED', data: { taskId: 'a', attempt: 0, reason: 'operator', by: ANNA, notBefore: AT } },
    ],
    [
      '12:01:02Z EDIT_OPENED e2 (editing, scoped) about a attempt 1, the end of the plan, until 12:01:02Z',
      {
        type: 'EDIT_OPENED',
        data: {
          editId: 'e2',
          mode: 'editing',
          triggers: [{ kind: 'task', taskId: 'a', attempt: 1 }, { kind: 'end-of-plan' }],
          revision: 1,
          lockPolicy: 'scoped',
          openedAt: AT,
          deadlineAt: AT,
        },
      },
    ],
    [
      '12:01:02Z EDIT_REJECTED e2 try 1 by planner: UNKNOWN_TASK edits[0].taskId: there is no task "x"; 1 more',
      {
        type: 'EDIT_REJECTED',
        data: {
          editId: 'e2',
          try: 1,
          revision: 1,
          violations: [
            { code: 'UNKNOWN_TASK', path: 'edits[0].taskId', message: 'there is no task "x"' },
            { code: 'NO_DEVICE', path: 'edits[1].task.target', message: 'no device' },
          ],
          lockPolicy: 'strict',
          proposedBy: PLANNER,
          rejectedAt: AT,
          planHash: null,
        },
      },
    ],
    [
      '12:01:02Z EDIT_ABANDONED e2: DEADLINE nobody answered',
      {
        type: 'EDIT_ABANDONED',
        data: { editId: 'e2', reason: { code: 'DEADLINE', message: 'nobody answered' }, abandonedAt: AT },
      },
    ],
    [
      '12:01:02Z CONSTELLATION_MODIFIED revision 2: 3 tasks, 1 line; e2 try 2 by planner ' +
        'removes task b; adds line l9 from a to c (conditional: result.exit_code == 0); FINISH; thought: that was all',
      {
        type: 'CONSTELLATION_MODIFIED',
        data: {
          ...MODIFIED,
          editId: 'e2',
          try: 2,
          origin: 'planner',
          state: 'FINISH',
          proposedBy: PLANNER,
          trace: { thought: 'that\n was \u001B[31mall' },
          edits: [
            { tool: 'remove_task', taskId: 'b' },
            {
              tool: 'add_dependency',
              line: { id: 'l9', from: 'a', to: 'c', type: 'conditional', condition: 'result.exit_code == 0' },
            },
          ],
        },
      },
    ],
    [
      '12:01:02Z CONSTELLATION_MODIFIED revision 2: 3 tasks, 1 line; anna changes task b: name = B, command removed',
      {
        type: 'CONSTELLATION_MODIFIED',
        data: {
          ...MODIFIED,
          origin: 'operator',
          proposedBy: ANNA,
          edits: [{ tool: 'update_task', taskId: 'b', change: { name: 'B', command: null } }],
        },
      },
    ],
    [
      '12:01:02Z RUN_FORKED from event 9 of p1 by anna: plan (revision 2, 0 tasks)',
      { type: 'RUN_FORKED', data: { ...FORKED, tasks: [], lines: [] } },
    ],
    [
      '12:01:02Z RUN_CANCELLED by anna: wrong device (1 completed, 2 failed)',
      { type: 'RUN_CANCELLED', data: { by: ANNA, reason: 'wrong device', counts, cancelledAt: AT } },
    ],
    [
      '12:01:02Z RUN_PAUSED by anna: maintenance',
      { type: 'RUN_PAUSED', data: { by: 'operator', actor: ANNA, reason: 'maintenance', pausedAt: AT } },
    ],
    ['12:01:02Z RUN_RESUMED by anna', { type: 'RUN_RESUMED', data: { by: ANNA, resumedAt: AT } }],
    [
      `12:01:02Z RUN_REOPENED by anna, until ${SAID}`,
      { type: 'RUN_REOPENED', data: { by: ANNA, reopenedAt: AT, deadlineAt: AT } },
    ],
    [
      '12:01:02Z RUN_PAUSED by system: dlq',
      { type: 'RUN_PAUSED', data: { by: 'system', reason: 'dlq', pausedAt: AT } },
    ],
    [
      `12:01:02Z APPROVAL_REQUESTED web: ? Which port? on web-1 (question), until 12:10:00Z; ${APPROVAL_ID}`,
      {
        type: 'APPROVAL_REQUESTED',
        data: { taskId: 'web', attempt: 1, ask: QUESTION_ASK, requestedAt: AT, attemptHash: '' },
      },
    ],
    [
      String.raw`12:01:02Z APPROVAL_REQUESTED web: EXEC_CLI systemctl restart nginx\u200b\nrm -rf /srv/old {"timeout":30} on web-1 (privileged), until 12:10:00Z; run-1.web.1.2.0`,
      {
        type: 'APPROVAL_REQUESTED',
        data: { taskId: 'web', attempt: 1, ask: COMMAND_ASK, requestedAt: AT, attemptHash: '' },
      },
    ],
    [
      String.raw`12:01:02Z APPROVAL_DECIDED web: edited by anna, the same until ${SAID}, as EXEC_CLI ls\u200b: go on; ${APPROVAL_ID}`,
      {
        type: 'APPROVAL_DECIDED',
        data: {
          ...DECIDED,
          decision: 'edited',
          command: { tool: 'EXEC_CLI', arguments: { command: 'ls\u200b' } },
          note: 'go on',
          grant: { until: AT },
        },
      },
    ],
    [
      `12:01:02Z APPROVAL_DECIDED web: approved by anna, as run-1.web.1.1.0 allows; ${APPROVAL_ID}`,
      { type: 'APPROVAL_DECIDED', data: { ...DECIDED, decision: 'approved', grantOf: 'run-1.web.1.1.0' } },
    ],
    [
      String.raw`12:01:02Z RUN_ANNOTATED note by anna about a: a new\u202e disk`,
      {
        type: 'RUN_ANNOTATED',
        data: { kind: 'note', by: ANNA, text: 'a\u001B[2J\nnew\u202E disk', taskId: 'a', annotatedAt: AT },
      },
    ],
    [
      '12:01:02Z RUN_ANNOTATED a: a late result',
      {
        type: 'RUN_ANNOTATED',
        data: { kind: 'late_result', taskId: 'a', attempt: 1, text: 'a late result', attemptHash: '', annotatedAt: AT },
      },
    ],
  ];
  it.each(cases)('%s', (line, event) => expect(lineOf(event)).toBe(line));

  it('tells the first edits of a batch, and how many there are besides', () => {
    const edits = Array.from({ length: 100 }, (_, index) => ({ tool: 'remove_task' as const, taskId: `t${index}` }));
    const line = lineOf({
      type: 'CONSTELLATION_MODIFIED',
      data: { ...MODIFIED, origin: 'operator', proposedBy: ANNA, edits },
    });
    expect(line).toMatch(/anna removes task t0; .*; removes task t7; 92 more$/u);
  });

  it('says which attempt it is from the second one on', () => {
    const started = commits[0]?.events[2];
    if (started?.type !== 'TASK_STARTED') throw new Error('the sample has changed');
    expect(lineOf({ ...started, data: { ...started.data, attempt: 2 } })).toBe(
      '12:01:02Z TASK_STARTED a on web-1 (attempt 2)',
    );
  });

  it('lets nothing of a device reach the terminal that is not text', () => {
    const error = { code: 'X', message: 'a\u001B[2J\nb\u0007', outcome: 'failed' as const };
    expect(
      lineOf({
        type: 'TASK_FAILED',
        data: { taskId: 'a', attempt: 1, error, lines: [], failedAt: AT, attemptHash: null },
      }),
    ).toBe(String.raw`12:01:02Z TASK_FAILED a: X a b\u0007`);
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

  it('goes on after an end that is taken back', () => {
    const last = commits.at(-1);
    if (last === undefined) throw new Error('the sample has changed');
    const reopened: RecordedRunEvent = {
      id: 'e8',
      sequence: 8,
      schemaVersion: 1,
      type: 'RUN_REOPENED',
      data: { by: ANNA, reopenedAt: AT, deadlineAt: AT },
    };
    const ended = commits.reduce((watched, commit) => see(watched, commit).watched, watchFrom(SAMPLE_RUN));
    const { watched, lines } = see(ended, { ...last, number: 4, events: [reopened] });
    expect([watched.ended, lines]).toEqual([false, [`12:00:00Z RUN_REOPENED by anna, until ${SAID}`]]);
  });
});

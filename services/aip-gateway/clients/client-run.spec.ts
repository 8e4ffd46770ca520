import { describe, expect, it } from '@jest/globals';
import { RunRequest } from '#proto';
import type { RunEvent, TaskError } from '#proto';
import { emptyRun, foldEvents, validateConstellation } from '#libs/constellation';
import { runEndOf, requestIdOf, requestOf, sentenceOfRefusal } from './client-run.js';

const CLIENT = { id: 'galaxy', connectionId: '01KABCDEFGHJKMNPQRSTVWXYZ0', refusals: 0, label: 'r@d1' };
const TASK = { sessionId: 'r@t1', deviceId: 'd1', name: 'galaxy_r_t1', request: 'look around', command: null };
const command = { tool: 'EXEC_CLI', arguments: { command: 'uname' } };

describe('a task of a constellation client', () => {
  it('is a request for a run of one task on that device', () => {
    const request = requestOf({ ...TASK, command }, CLIENT);
    expect(RunRequest.parse(request)).toEqual(request);
    const { constellation } = request;
    expect(constellation === null ? ['none'] : validateConstellation(constellation)).toEqual([]);
    expect(request).toMatchObject({
      constellation: {
        name: 'galaxy_r_t1',
        tasks: [{ description: 'look around', target: { device: 'd1' }, command, timeoutMs: 985_000 }],
      },
      options: { deadlineMs: 985_000 },
      metadata: { aip: { client: 'galaxy', label: 'r@d1', sessionId: 'r@t1' } },
    });
    expect(requestOf(TASK, CLIENT).constellation?.tasks[0]).not.toHaveProperty('command');
  });

  it('has the same id when it comes again over the same connection, and only then', () => {
    const id = requestIdOf(CLIENT, 'r@t1');
    expect(id).toMatch(/^aip-01kabcdefghjkmnpqrstvwxyz0-[0-9a-f]{24}$/u);
    expect(requestIdOf(CLIENT, 'r@t1')).toBe(id);
    expect(requestIdOf(CLIENT, 'r@t2')).not.toBe(id);
    expect(requestIdOf({ ...CLIENT, connectionId: '01KABCDEFGHJKMNPQRSTVWXYZ1' }, 'r@t1')).not.toBe(id);
    expect(requestIdOf({ ...CLIENT, refusals: 1 }, 'r@t1')).not.toBe(id);
  });
});

describe('the end of its run', () => {
  const at = '2026-01-01T00:00:00.000Z';
  const counts = { completed: 0, failed: 0, skipped: 0, cancelled: 0 };
  const { requestId, constellation, options, metadata } = requestOf({ ...TASK, command }, CLIENT);
  const attempt = { taskId: 'task', attempt: 1 } as const;
  const begun: RunEvent[] = [
    {
      type: 'RUN_REQUESTED',
      data: {
        requestId,
        namespace: 'default',
        contentHash: '0'.repeat(64),
        goal: null,
        constellation,
        options,
        metadata,
        requestedBy: { kind: 'external', id: 'default' },
        requestedAt: at,
        deadlineAt: at,
      },
    },
    { type: 'CONSTELLATION_MODIFIED', data: { revision: 1, origin: 'request', tasks: 1, lines: 0, modifiedAt: at } },
    {
      type: 'TASK_STARTED',
      data: {
        ...attempt,
        deviceId: 'd1',
        sessionId: 's',
        journalId: null,
        command,
        inputs: [],
        priority: 0,
        startedAt: at,
        timeoutAt: at,
      },
    },
  ];
  const completed: RunEvent = {
    type: 'TASK_COMPLETED',
    data: {
      ...attempt,
      result: { value: { stdout: 'Linux\n' } },
      lines: [],
      completedAt: at,
      attemptHash: '0'.repeat(64),
    },
  };
  const failed = (error: TaskError): RunEvent => ({
    type: 'TASK_FAILED',
    data: { ...attempt, error, lines: [], failedAt: at, attemptHash: null },
  });
  const after = (...events: RunEvent[]) => runEndOf(foldEvents(emptyRun('run'), [...begun, ...events]))?.end ?? null;

  it('is not there while it goes on', () => {
    expect(after()).toBeNull();
    expect(after(completed)).toBeNull();
  });

  it('brings the result of its task', () =>
    expect(
      after(completed, { type: 'RUN_COMPLETED', data: { outcome: 'succeeded', counts, completedAt: at } }),
    ).toEqual({ status: 'completed', result: { stdout: 'Linux\n' }, error: null }));

  it('says why it failed, with what there was until then', () => {
    const error: TaskError = {
      code: 'EXIT_CODE',
      message: 'exit code 1',
      outcome: 'failed',
      output: { value: { stdout: 'half' } },
    };
    const over: RunEvent = {
      type: 'RUN_FAILED',
      data: { reason: { code: 'TASK_FAILED', message: 'a task failed' }, counts, failedAt: at },
    };
    expect(after(failed(error), over)).toEqual({ status: 'failed', result: { stdout: 'half' }, error: 'exit code 1' });
  });

  it('says why it was cancelled', () => {
    const by = { kind: 'person', id: 'cli' } as const;
    const cancelled: RunEvent = {
      type: 'TASK_CANCELLED',
      data: { ...attempt, reason: 'cancelled', by, lines: [], cancelledAt: at },
    };
    const over: RunEvent = { type: 'RUN_CANCELLED', data: { by, reason: 'wrong host', counts, cancelledAt: at } };
    expect(after(cancelled, over)).toEqual({ status: 'failed', result: null, error: 'wrong host' });
  });
});

describe('a refusal', () => {
  it('names the fields of the TASK, not those of the run', () => {
    const issues = [
      { path: 'constellation.tasks[0].command.arguments.stdin.from', message: 'unknown task' },
      { path: 'constellation.tasks[0].target.device', message: 'no such device' },
      { path: 'constellation.tasks[0].description', message: 'too long' },
    ];
    expect(sentenceOfRefusal({ code: 'INVALID_REQUEST', message: 'no', issues })).toBe(
      'metadata.orrery.command.arguments.stdin.from: unknown task; target_id: no such device; request: too long',
    );
    expect(sentenceOfRefusal({ code: 'NO_PLANNER', message: 'no planner', issues: [] })).toBe('no planner');
  });
});

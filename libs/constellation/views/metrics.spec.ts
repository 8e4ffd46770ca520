import { describe, expect, it } from '@jest/globals';
import { RUN_EVENT_TYPES } from '#proto';
import type { Edit, RunEvent } from '#proto';
import { commandAsk } from '../testing/given.js';
import {
  abandoned,
  at,
  cancelled,
  commitsOf,
  completed,
  counts,
  created,
  edited,
  ended,
  failed,
  forked,
  HASH,
  line,
  opened,
  ops,
  plan,
  rejected,
  reopened,
  requested,
  skipped,
  star,
  started,
} from '../testing/facts.js';
import { metricsOf, type RunMetrics } from './metrics.js';

function measured(...events: readonly RunEvent[]): RunMetrics {
  const metrics = metricsOf(commitsOf(events));
  if (metrics === null) throw new Error('nothing was measured');
  return metrics;
}

const PARTS = { parts: [{ deviceId: 'web-1', taskId: 'b-web-1' }] };

describe('metricsOf', () => {
  it('knows nothing of a run without commits', () => {
    expect(metricsOf([])).toBeNull();
  });

  it('gives the figures of the paper for a diamond, one task of which was tried twice', () => {
    // a 0-100, b 100-400, c 110-310, d 420-450 failed, 500-550: W = 100 + 300 + 200 + 30 + 50, L = a, b, d = 100 + 300 + 50.
    const metrics = metricsOf(
      commitsOf(
        [...created(['a', 'b', 'c', 'd'], ['a>b', 'a>c', 'b>d', 'c>d']), started('a', 0)],
        [completed('a', 100), started('b', 100), started('c', 110)],
        [completed('c', 310)],
        [completed('b', 400), started('d', 420)],
        [failed('d', 450), reopened('d', 500)],
        [started('d', 500, 2)],
        [completed('d', 550, 2), ended(560)],
      ),
    );
    expect(metrics).toMatchObject({
      runId: 'run-1',
      maxWidth: 2,
      peakConcurrency: 2,
      criticalPathMs: 450,
      criticalPath: ['a', 'b', 'd'],
      totalWorkMs: 680,
      parallelismRatio: 680 / 450,
      endToEndMs: 560,
      orchestrationMs: 0,
      creationMs: 0,
      initial: { tasks: 4, lines: 4 },
      final: { tasks: 4, lines: 4 },
      edits: { rounds: 0, proposals: 0, applied: 0 },
    });
  });

  it('tells the width that the plan has from the concurrency that there was', () => {
    const metrics = measured(
      ...created(['a', 'b', 'c']),
      ...['a', 'b', 'c'].flatMap((id, index) => [started(id, index * 10), completed(id, index * 10 + 5)]),
    );
    expect(metrics).toMatchObject({ maxWidth: 3, peakConcurrency: 1, criticalPathMs: 5, totalWorkMs: 15 });
  });

  it('counts nothing for an attempt, a round and a run that are open', () => {
    const metrics = measured(...created(['a', 'b'], ['a>b']), started('a', 0), completed('a', 40), opened('e1', 40));
    expect(metrics).toMatchObject({ totalWorkMs: 40, criticalPath: ['a'], endToEndMs: null, orchestrationMs: 0 });
    const later = measured(...created(['a']), started('a', 0));
    expect(later).toMatchObject({ totalWorkMs: 0, criticalPathMs: 0, criticalPath: [], parallelismRatio: null });
  });

  it('measures a run that waits for its constellation', () => {
    expect(measured(requested(null, 'look around'), opened('e1', 0, 'creation'))).toMatchObject({
      maxWidth: 0,
      peakConcurrency: 0,
      parallelismRatio: null,
      initial: { tasks: 0, lines: 0 },
      final: { tasks: 0, lines: 0 },
      edits: { rounds: 1, proposals: 0, applied: 0, perEdit: null },
    });
  });

  it('gives what was skipped or cancelled before it ran no weight, and what was stopped the time it ran', () => {
    const metrics = measured(
      ...created(['a', 'b', 'c', 'd'], ['a>b', 'b>c']),
      started('a', 0),
      started('d', 0),
      failed('a', 70),
      skipped('b', 70),
      cancelled('c', 75, 0),
      cancelled('d', 90),
    );
    expect(metrics).toMatchObject({ totalWorkMs: 160, criticalPathMs: 90, criticalPath: ['d'], peakConcurrency: 2 });
  });

  it('takes an end before its beginning, as clocks of two replicas tell it, for no time at all', () => {
    const metrics = measured(...created(['a']), started('a', 10), completed('a', 7), ended(8));
    expect(metrics).toMatchObject({ totalWorkMs: 0, parallelismRatio: null, endToEndMs: 8 });
  });

  it('goes on through a task that did not run', () => {
    const metrics = measured(
      ...created(['a', 'b', 'c'], ['a>b', 'b>c']),
      started('a', 0),
      completed('a', 10),
      skipped('b', 10),
      started('c', 10),
      completed('c', 15),
    );
    expect(metrics).toMatchObject({ criticalPathMs: 15, criticalPath: ['a', 'b', 'c'] });
  });

  it('takes the end back when the run is reopened', () => {
    const reopening: RunEvent = {
      type: 'RUN_REOPENED',
      data: { by: ops, reopenedAt: at(500), deadlineAt: at(86_400_000) },
    };
    const events = [...created(['a']), started('a', 0), failed('a', 90), ended(100), reopening];
    expect(measured(...events).endToEndMs).toBeNull();
    expect(measured(...events, ended(900)).endToEndMs).toBe(900);
  });

  it('counts a fork from its own beginning: what its parent did weighs nothing', () => {
    const done = { star: star('a'), status: 'COMPLETED', attempt: 1, startedAt: at(0), endedAt: at(700) } as const;
    const metrics = measured(
      forked(1_000, [done, { star: star('b') }], ['a>b']),
      started('b', 1_010),
      completed('b', 1_060),
      ended(1_100),
    );
    expect(metrics).toMatchObject({
      endToEndMs: 100,
      totalWorkMs: 50,
      criticalPath: ['b'],
      maxWidth: 1,
      initial: { tasks: 2, lines: 1 },
      edits: { applied: 0 },
    });
  });

  it('takes of a task on several devices the longest of each wave, and as many at a time as a wave has', () => {
    const wave = (number: number, ...ids: string[]): RunEvent => ({
      type: 'WAVE_STARTED',
      data: { taskId: 'a', wave: number, parts: ids.map((id) => ({ deviceId: id, taskId: id })), startedAt: at(0) },
    });
    const metrics = measured(
      ...created(['a', 'b'], ['a>b']),
      wave(1, 'w1', 'w2'),
      started('w1', 0),
      started('w2', 0),
      completed('w1', 10),
      completed('w2', 30),
      wave(2, 'w3'),
      started('w3', 40),
      completed('w3', 45),
      completed('a', 45, 0),
      started('b', 45),
      completed('b', 50),
    );
    expect(metrics).toMatchObject({
      criticalPathMs: 40,
      criticalPath: ['a', 'b'],
      totalWorkMs: 50,
      maxWidth: 2,
      peakConcurrency: 2,
      final: { tasks: 2 },
    });
  });

  it('takes every fact there is', () => {
    const build = edited(
      20,
      [{ tool: 'build_constellation', constellation: plan(['a', 'b', 'c']), clear: true }],
      'e1',
    );
    const events: RunEvent[] = [
      requested(null, 'look around'),
      forked(0, [], []),
      opened('e1', 0, 'creation'),
      rejected('e1', 10),
      build,
      opened('e2', 30),
      abandoned('e2', 40),
      started('a', 50),
      {
        type: 'TASK_STOP_REQUESTED',
        data: { taskId: 'a', attempt: 1, reason: 'retry', requestedAt: at(55), graceUntil: at(60) },
      },
      {
        type: 'APPROVAL_REQUESTED',
        data: { taskId: 'a', attempt: 1, ask: commandAsk('run-1.a.1.1.0'), requestedAt: at(56), attemptHash: HASH },
      },
      {
        type: 'APPROVAL_GIVEN',
        data: { taskId: 'a', attempt: 1, approvalId: 'run-1.a.1.1.0', by: ops, givenAt: at(57) },
      },
      { type: 'PLAN_ACCEPTED', data: { by: ops, revision: 1, acceptedAt: at(57) } },
      {
        type: 'APPROVAL_DECIDED',
        data: {
          taskId: 'a',
          attempt: 1,
          approvalId: 'run-1.a.1.1.0',
          decision: 'rejected',
          by: ops,
          decidedAt: at(57),
        },
      },
      failed('a', 60),
      reopened('a', 60),
      { type: 'TASKS_WAITING', data: { began: ['a'], over: [], at: at(60) } },
      { type: 'FAN_OUT_STARTED', data: { taskId: 'b', ...PARTS, waveSize: 2, maxFailures: 0, startedAt: at(60) } },
      { type: 'WAVE_STARTED', data: { taskId: 'b', wave: 1, ...PARTS, startedAt: at(60) } },
      started('a', 70, 2),
      completed('a', 80, 2),
      skipped('b', 80),
      cancelled('c', 80, 0),
      { type: 'RUN_PAUSED', data: { by: 'operator', reason: 'lunch', pausedAt: at(80) } },
      { type: 'RUN_RESUMED', data: { by: ops, resumedAt: at(90) } },
      { type: 'RUN_FAILED', data: { reason: { code: 'X', message: 'x' }, counts, failedAt: at(90) } },
      { type: 'WORDS_SAID', data: { number: 1, by: ops, text: 'also look at db-2', saidAt: at(90) } },
      { type: 'BOARD_WRITTEN', data: { name: 'free', revision: 1, value: 1, by: ops, writtenAt: at(90) } },
      { type: 'WORKSPACE_DISCARDED', data: { deviceId: 'web-1', by: ops, discardedAt: at(90) } },
      { type: 'RUN_REOPENED', data: { by: ops, reopenedAt: at(90), deadlineAt: at(100) } },
      { type: 'RUN_CANCELLED', data: { by: ops, reason: 'enough', counts, cancelledAt: at(95) } },
      ended(99),
      {
        type: 'RUN_ANNOTATED',
        data: { kind: 'late_result', taskId: 'a', attempt: 1, text: 'late', attemptHash: HASH, annotatedAt: at(99) },
      },
    ];
    expect(new Set(events.map(({ type }) => type))).toEqual(new Set(RUN_EVENT_TYPES));
    expect(measured(...events)).toMatchObject({
      totalWorkMs: 19,
      waitedMs: 1,
      endToEndMs: 99,
      orchestrationMs: 30,
      creationMs: 20,
    });
    expect(measured(...events.slice(0, -2)).endToEndMs).toBe(95);
    expect(measured(...events.slice(0, -4)).endToEndMs).toBe(90);
  });
});

describe('orchestration', () => {
  const creation = [
    requested(null, 'look around'),
    opened('e1', 100, 'creation'),
    edited(400, [{ tool: 'add_task', task: star('a') }], 'e1'),
  ];

  it('is the time with a round open, the creation included and given alone', () => {
    const metrics = measured(
      ...creation,
      opened('e2', 1_000),
      edited(1_050, [], 'e2'),
      opened('e3', 2_000),
      abandoned('e3', 2_007),
    );
    expect(metrics).toMatchObject({ orchestrationMs: 357, creationMs: 300 });
  });

  it('counts the time of rounds that overlap once', () => {
    const metrics = measured(
      ...creation,
      opened('e2', 1_000),
      opened('e3', 1_010),
      edited(1_020, [], 'e3'),
      abandoned('e2', 1_100),
    );
    expect(metrics.orchestrationMs).toBe(400);
  });

  it('counts rounds and proposals', () => {
    const { edits } = measured(
      ...creation,
      opened('e2', 1_000),
      rejected('e2', 1_010),
      rejected('e2', 1_020, 2),
      edited(1_030, [], 'e2'),
      opened('e3', 2_000),
      abandoned('e3', 2_010),
      edited(3_000, []),
    );
    expect(edits).toMatchObject({ rounds: 3, abandoned: 1, proposals: 5, rejected: 2, applied: 2 });
  });
});

describe('what edits changed', () => {
  const nothing = {
    addedTasks: 0,
    removedTasks: 0,
    modifiedTasks: 0,
    addedDependencies: 0,
    removedDependencies: 0,
    modifiedDependencies: 0,
    total: 0,
  };

  it('is given for the run and as an average over the edits, those without a change included', () => {
    const { edits, final, maxWidth } = measured(
      ...created(['a']),
      edited(10, [
        { tool: 'add_task', task: star('b') },
        { tool: 'add_dependency', line: line('a>b') },
      ]),
      edited(20, [{ tool: 'add_task', task: star('c') }]),
      edited(30, [{ tool: 'update_task', taskId: 'c', change: { name: 'c' } }]),
      edited(40, []),
    );
    expect(edits.changes).toEqual({ ...nothing, addedTasks: 2, addedDependencies: 1, total: 3 });
    expect(edits.perEdit).toEqual({ ...nothing, addedTasks: 0.5, addedDependencies: 0.25, total: 0.75 });
    expect(final).toEqual({ tasks: 3, lines: 1 });
    expect(maxWidth).toBe(2);
  });

  it('leaves the creation out', () => {
    const { initial, edits } = measured(
      requested(null, 'look around'),
      opened('e1', 0, 'creation'),
      edited(10, [{ tool: 'build_constellation', clear: true, constellation: plan(['a', 'b'], ['a>b']) }], 'e1'),
    );
    expect(initial).toEqual({ tasks: 2, lines: 1 });
    expect(edits).toMatchObject({ changes: nothing, applied: 0, proposals: 1, perEdit: null });
  });

  it('depends on which tasks are pending when the edit is made', () => {
    const clearing = (...events: RunEvent[]) =>
      measured(
        ...created(['a']),
        ...events,
        edited(20, [{ tool: 'build_constellation', clear: true, constellation: plan(['b']) }]),
      ).edits.changes;
    expect(clearing()).toMatchObject({ addedTasks: 1, removedTasks: 1 });
    expect(clearing(started('a', 0))).toMatchObject({ addedTasks: 1, removedTasks: 0 });
    expect(clearing(skipped('a', 0))).toMatchObject({ addedTasks: 1, removedTasks: 0 });
    expect(clearing(started('a', 0), failed('a', 10), reopened('a', 10))).toMatchObject({ removedTasks: 1 });
  });

  it('knows which tasks of a fork are pending', () => {
    const tasks = [{ star: star('a'), status: 'COMPLETED' as const, attempt: 1 }, { star: star('b') }];
    const build: Edit = { tool: 'build_constellation', clear: true, constellation: plan(['c']) };
    const { initial, edits } = measured(forked(0, tasks, ['a>b']), edited(10, [build]));
    expect(initial).toEqual({ tasks: 2, lines: 1 });
    expect(edits.changes).toMatchObject({ addedTasks: 1, removedTasks: 1, removedDependencies: 1, total: 3 });
  });
});

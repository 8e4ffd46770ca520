import { describe, expect, it } from '@jest/globals';
import {
  completed,
  constellation,
  device,
  failed,
  fleet,
  HASH,
  instant,
  Story,
  submit,
  T0,
  TWO_DEVICES,
  WAKE,
} from '../testing/given.js';

const MINUTE = 60_000;

describe('a submitted constellation', () => {
  it('starts every task without lines in the commit that records it', () => {
    const story = new Story().when(submit(constellation(['a', 'b', 'c'], ['a->c', 'b->c'])));
    expect(story.told).toEqual([
      'RUN_REQUESTED',
      'CONSTELLATION_MODIFIED',
      'TASK_STARTED a 1 on web-1',
      'TASK_STARTED b 1 on web-1',
    ]);
  });

  it('is accepted again with the same content and changes nothing', () => {
    const plan = constellation(['a']);
    const story = new Story().when(submit(plan)).when(submit(plan));
    expect(story.answers).toEqual([{ kind: 'accepted' }, { kind: 'accepted' }]);
    expect(story.told).toEqual([]);
  });

  it('is refused under a used id with other content', () => {
    const story = new Story()
      .when(submit(constellation(['a'])))
      .when(submit(constellation(['b']), { contentHash: 'b'.repeat(64) }));
    expect(story.answers[1]).toMatchObject({ kind: 'rejected', reason: { code: 'IDEMPOTENCY_CONFLICT' } });
    expect(story.told).toEqual([]);
  });

  it('is the one of before when it was sent before a line without a type was success-only', () => {
    const FORMER = 'f'.repeat(64);
    const plan = constellation(['a', 'b'], ['a=>b']);
    const sent = { ...submit(plan), formerHash: FORMER } as const;
    const story = new Story().when(submit(plan, { contentHash: FORMER })).when(sent);
    expect(story.answers[1]).toEqual({ kind: 'accepted' });
    // One that was asked since then, in so many words, is another one.
    const since = new Story().when(submit(plan, { contentHash: FORMER, untypedLines: 'success-only' })).when(sent);
    expect(since.answers[1]).toMatchObject({ kind: 'rejected', reason: { code: 'IDEMPOTENCY_CONFLICT' } });
  });

  it('is the one of before although nobody would take it today, and is refused where there is none', () => {
    const message = 'the condition asks for what is never answered';
    const refusal = { code: 'INVALID_REQUEST' as const, message, issues: [] };
    const sent = submit(constellation(['a']));
    if (sent.kind !== 'submit') throw new Error('a request is submitted');
    const refused = { ...sent, refusal } as const;
    expect(new Story().when(sent).when(refused).answers[1]).toEqual({ kind: 'accepted' });
    const first = new Story().when(refused);
    expect([first.answers, first.run.phase]).toEqual([[{ kind: 'rejected', reason: refusal }], 'NONE']);
  });

  it('is refused, with the known devices, when no enrolled device can ever satisfy a target', () => {
    const story = new Story().when(submit(constellation([{ id: 'a', target: { device: 'mars' } }])));
    expect(story.answers[0]).toMatchObject({
      reason: {
        issues: [
          { path: 'constellation.tasks[0].target', message: 'no device "mars" is enrolled; known are db-1, web-1' },
        ],
      },
    });
    expect(story.run.phase).toBe('NONE');
  });

  it('is refused, with the known tools, when no such device has the tool', () => {
    const story = new Story().when(submit(constellation([{ id: 'a', command: { tool: 'FLY', arguments: {} } }])));
    expect(story.answers[0]).toMatchObject({ reason: { issues: [{ path: 'constellation.tasks[0].command.tool' }] } });
  });

  it('is accepted while the view of the fleet is not complete: never is said only from a complete one', () => {
    const story = new Story().on(fleet([], {}, false)).when(submit(constellation(['a'])));
    expect(story.answers).toEqual([{ kind: 'accepted' }]);
    expect(story.last?.wakeAt).toBe(T0 + 5_000);
  });
});

describe('the end of an attempt', () => {
  const diamond = constellation(['a', 'b', 'c', 'd'], ['a->b', 'a->c', 'b=>d', 'c=>d']);

  it('starts what became ready, and ends the run, in its own commit', () => {
    const story = new Story().when(submit(diamond)).when(completed('a'));
    expect(story.told).toEqual(['TASK_COMPLETED a 1', 'TASK_STARTED b 1 on web-1', 'TASK_STARTED c 1 on web-1']);
    story.when(completed('b'), completed('c'));
    expect(story.told).toEqual(['TASK_COMPLETED b 1', 'TASK_COMPLETED c 1', 'TASK_STARTED d 1 on web-1']);
    expect(story.when(completed('d')).told).toEqual(['TASK_COMPLETED d 1', 'RUN_COMPLETED succeeded']);
    expect(story.last?.wakeAt).toBeNull();
  });

  it('counts once: a second delivery is ignored', () => {
    const story = new Story().when(submit(diamond)).when(completed('a')).when(completed('a'));
    expect(story.answers.at(-1)).toEqual({ kind: 'ignored', reason: 'DUPLICATE_RESULT' });
    expect(story.told).toEqual([]);
  });

  it('is ignored when it comes from an attempt that was given up', () => {
    const plan = constellation([{ id: 'a', retry: { attempts: 2, backoffMs: 0 } }]);
    const story = new Story().when(submit(plan)).when(failed('a')).when(completed('a', 1));
    expect(story.answers.at(-1)).toEqual({ kind: 'ignored', reason: 'STALE_ATTEMPT' });
    expect(story.status('a')).toBe('RUNNING');
  });

  it('is ignored for a task nobody knows, and before there is a run', () => {
    expect(new Story().when(completed('a')).answers).toEqual([{ kind: 'ignored', reason: 'UNKNOWN_TASK' }]);
    expect(new Story().when(submit(diamond)).when(completed('nobody')).answers.at(-1)).toMatchObject({
      reason: 'UNKNOWN_TASK',
    });
  });

  it('skips what hangs on a success that did not come, all the way down', () => {
    const plan = constellation(['a', 'b', 'c', 'd'], ['a=>b', 'b=>c', 'a->d']);
    const story = new Story().when(submit(plan)).when(failed('a'));
    expect(story.told).toEqual([
      'TASK_FAILED a 1 EXIT_CODE failed',
      'TASK_SKIPPED b by failure',
      'TASK_SKIPPED c by failure',
      'TASK_STARTED d 1 on web-1',
    ]);
    expect(story.when(completed('d')).told.at(-1)).toBe('RUN_COMPLETED partially_failed');
  });

  it('counts a branch that a condition did not take as no failure', () => {
    const plan = constellation(
      ['a', 'b', 'c', 'd'],
      ['a?result.exit_code == 0>b', 'a?result.exit_code != 0>c', 'c=>d'],
    );
    const story = new Story().when(submit(plan)).when(completed('a'));
    expect(story.told).toEqual([
      'TASK_COMPLETED a 1',
      'TASK_SKIPPED c by condition',
      'TASK_SKIPPED d by condition',
      'TASK_STARTED b 1 on web-1',
    ]);
    expect(story.when(completed('b')).told.at(-1)).toBe('RUN_COMPLETED succeeded');
  });

  it('records why a condition was not satisfied, a missing field too', () => {
    const story = new Story().when(submit(constellation(['a', 'b'], ['a?result.load > 1>b']))).when(completed('a'));
    const event = story.last?.events[0];
    expect(event).toMatchObject({
      data: { lines: [{ id: 'a-b', satisfied: false, reason: expect.stringContaining('No such key: load') }] },
    });
  });

  it('fails the run when no task completed', () => {
    const story = new Story().when(submit(constellation(['a', 'b'], ['a=>b']))).when(failed('a'));
    expect(story.told.at(-1)).toBe('RUN_FAILED NO_TASK_COMPLETED');
  });

  it('names the attempts whose outputs a command takes, in their order, but not a skipped one', () => {
    const report = {
      id: 'r',
      command: { tool: 'EXEC_CLI', arguments: { command: 'cat', stdin: { from: ['b', 'a', 's'] } } },
    };
    const plan = constellation(['a', 'b', 's', report], ['a->r', 'b->r', 's->r', 'a?false>s']);
    const story = new Story().when(submit(plan)).when(completed('b')).when(completed('a'));
    const started = story.last?.events.find((event) => event.type === 'TASK_STARTED' && event.data.taskId === 'r');
    expect(started).toMatchObject({
      data: {
        inputs: [
          { taskId: 'b', attempt: 1 },
          { taskId: 'a', attempt: 1 },
        ],
      },
    });
  });
});

describe('retries', () => {
  const plan = constellation([{ id: 'a', retry: { attempts: 3, backoffMs: 1_000 } }]);

  it('reopen the task in the commit of its failure and wait about twice as long each time', () => {
    const story = new Story().when(submit(plan)).when(failed('a'));
    expect(story.told).toEqual(['TASK_FAILED a 1 EXIT_CODE failed', 'TASK_REOPENED a 1']);
    const first = (story.last?.wakeAt ?? 0) - T0;
    expect(first).toBeGreaterThanOrEqual(500);
    expect(first).toBeLessThanOrEqual(1_000);
    expect(story.at(first - 1).when(WAKE).told).toEqual([]);
    expect(story.at(first).when(WAKE).told).toEqual(['TASK_STARTED a 2 on web-1']);
    const second = (story.when(failed('a', 2)).last?.wakeAt ?? 0) - T0 - first;
    expect(second).toBeGreaterThanOrEqual(1_000);
    expect(second).toBeLessThanOrEqual(2_000);
    expect(
      story
        .at(first + second)
        .when(WAKE)
        .when(failed('a', 3)).told,
    ).toEqual(['TASK_FAILED a 3 EXIT_CODE failed', 'RUN_FAILED NO_TASK_COMPLETED']);
  });

  it.each(['device_lost', 'unknown'] as const)('do not repeat after %s what may have happened', (outcome) => {
    const story = new Story().when(submit(plan)).when(failed('a', 1, outcome));
    expect(story.told.at(-1)).toBe('RUN_FAILED NO_TASK_COMPLETED');
  });

  it('repeat after an unknown outcome what is declared idempotent or only reads', () => {
    const idempotent = constellation([{ id: 'a', idempotent: true, retry: { attempts: 2, backoffMs: 0 } }]);
    expect(
      new Story()
        .when(submit(idempotent))
        .when(failed('a', 1, 'unknown'))
        .told.at(-1),
    ).toBe('TASK_STARTED a 2 on web-1');
    const command = { tool: 'SYS_INFO', arguments: {} };
    const reads = constellation([{ id: 'a', command, retry: { attempts: 2, backoffMs: 0 } }]);
    expect(
      new Story()
        .when(submit(reads))
        .when(failed('a', 1, 'unknown'))
        .told.at(-1),
    ).toBe('TASK_STARTED a 2 on web-1');
  });

  it('avoid a device that was lost under the task until it has a newer session', () => {
    const safe = constellation([
      { id: 'a', idempotent: true, target: { os: 'linux' }, retry: { attempts: 3, backoffMs: 0 } },
    ]);
    const story = new Story()
      .on(fleet([device('web-1')]))
      .when(submit(safe))
      .when(failed('a', 1, 'device_lost'));
    expect(story.told).toEqual(['TASK_FAILED a 1 EXIT_CODE device_lost', 'TASK_REOPENED a 1']);
    const session = { sessionId: 'web-1-s2', gateway: 'g', journalId: 'j', connectedAt: instant(1) };
    expect(story.on(fleet([device('web-1', { session })])).when(WAKE).told).toEqual(['TASK_STARTED a 2 on web-1']);
  });
});

describe('assignment', () => {
  it('takes the least loaded device that satisfies the selector, by id when equal', () => {
    const view = fleet([device('b'), device('a'), device('c', { os: 'macos' })], { a: 1, b: 1 });
    const tasks = ['t1', 't2', 't3'].map((id) => ({ id, target: { os: 'linux', capabilities: ['cli'] } }));
    expect(
      new Story()
        .on(view)
        .when(submit(constellation(tasks)))
        .told.slice(2),
    ).toEqual(['TASK_STARTED t1 1 on a', 'TASK_STARTED t2 1 on b', 'TASK_STARTED t3 1 on a']);
  });

  it('respects the limit of a device and looks again within five seconds', () => {
    const view = fleet([device('web-1', { tasksMax: 2 })], { 'web-1': 1 });
    const story = new Story().on(view).when(submit(constellation(['a', 'b'])));
    expect(story.told.slice(2)).toEqual(['TASK_STARTED a 1 on web-1']);
    expect([...(story.last?.starvedOf ?? [])]).toEqual(['web-1']);
    expect(story.last?.wakeAt).toBe(T0 + 5_000);
  });

  it('uses a slot in the commit that frees it', () => {
    const view = fleet([device('web-1', { tasksMax: 1 })]);
    const story = new Story().on(view).when(submit(constellation(['a', 'b'])));
    expect(story.when(completed('a')).told).toEqual(['TASK_COMPLETED a 1', 'TASK_STARTED b 1 on web-1']);
  });

  it('waits for a device that is only away, and fails at once what no device can satisfy any more', () => {
    const away = fleet([device('web-1', { status: 'suspect' })]);
    const story = new Story().on(away).when(submit(constellation(['a', 'b'], ['a->b'])));
    expect(story.status('a')).toBe('PENDING');
    story.on(fleet([device('db-1')])).when(WAKE);
    expect(story.told).toEqual([
      'TASK_FAILED a 0 NO_DEVICE failed',
      'TASK_FAILED b 0 NO_DEVICE failed',
      'RUN_FAILED NO_TASK_COMPLETED',
    ]);
  });

  it('starts higher priorities first', () => {
    const plan = constellation(['a', { id: 'b', priority: 5 }]);
    const story = new Story().on(fleet([device('web-1', { tasksMax: 1 })])).when(submit(plan));
    expect(story.told.slice(2)).toEqual(['TASK_STARTED b 1 on web-1']);
  });
});

describe('time', () => {
  const plan = constellation([{ id: 'a', timeoutMs: MINUTE }, 'b'], ['a->b']);

  it('asks an attempt to stop at its timeout; the end that follows is a timeout', () => {
    const story = new Story().when(submit(plan)).at(MINUTE).when(WAKE);
    expect(story.told).toEqual(['TASK_STOP_REQUESTED a 1 timeout']);
    expect(story.when(WAKE).told).toEqual([]);
    expect(story.when(failed('a', 1, 'cancelled')).told[0]).toBe('TASK_FAILED a 1 TIMEOUT timed_out');
  });

  it('lets a result win that was there before the stop', () => {
    const story = new Story().when(submit(plan)).at(MINUTE).when(WAKE).when(completed('a'));
    expect(story.told[0]).toBe('TASK_COMPLETED a 1');
  });

  it('calls the outcome unknown when the grace passes without an end', () => {
    const story = new Story()
      .when(submit(plan))
      .at(MINUTE)
      .when(WAKE)
      .at(MINUTE + 10_000)
      .when(WAKE);
    expect(story.told[0]).toBe('TASK_FAILED a 1 OUTCOME_UNKNOWN unknown');
  });

  it('cancels what is pending and stops what is running at the deadline of the run, and then ends it', () => {
    const story = new Story()
      .when(submit(plan, { deadlineAt: instant(MINUTE / 2) }))
      .at(MINUTE / 2)
      .when(WAKE);
    expect(story.told).toEqual(['TASK_STOP_REQUESTED a 1 run_deadline', 'TASK_CANCELLED b 0 run_deadline']);
    expect(story.when(failed('a', 1, 'cancelled')).told).toEqual([
      'TASK_CANCELLED a 1 run_deadline',
      'RUN_FAILED DEADLINE',
    ]);
  });

  it('is never waited for longer than an hour', () => {
    const long = constellation([{ id: 'a', timeoutMs: 20 * 60 * MINUTE }]);
    expect(new Story().when(submit(long)).last?.wakeAt).toBe(T0 + 60 * MINUTE);
  });
});

describe('a paused run', () => {
  it('records facts and starts nothing', () => {
    const story = new Story()
      .when(submit(constellation(['a', 'b'], ['a->b'])))
      .when({ kind: 'pause', reason: 'poison' });
    expect(story.told).toEqual(['RUN_PAUSED']);
    expect(story.when(completed('a')).told).toEqual(['TASK_COMPLETED a 1']);
  });
});

it('a late result is an annotation beside the history', () => {
  const story = new Story().when(submit(constellation(['a']))).when(failed('a', 1, 'unknown'));
  story.when({ kind: 'late-result', taskId: 'a', attempt: 1, text: 'late', attemptHash: HASH });
  expect(story.told).toEqual(['RUN_ANNOTATED']);
  expect(story.run.phase).toBe('FAILED');
});

it('decides the same again from the same state: decide has no memory of its own', () => {
  const plan = constellation(['a', 'b'], ['a->b']);
  expect(new Story().on(TWO_DEVICES).when(submit(plan)).events).toEqual(
    new Story().on(TWO_DEVICES).when(submit(plan)).events,
  );
});

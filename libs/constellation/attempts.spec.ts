import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { LIMITS, NO_USAGE, type TaskConstellation } from '#proto';
import {
  completed,
  constellation,
  device,
  failed,
  fleet,
  instant,
  Story,
  submit,
  T0,
  verb,
  WAKE,
} from './testing/given.js';
import { checkInvariants } from './fold/invariants.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** The wait before the next attempt, in milliseconds, of a run whose last commit has this hash. */
function waitAfter(attempt: number, retry: { backoffMs: number; backoffMsMax?: number }, hash: string): number {
  const plan = constellation([{ id: 'a', retry: { attempts: 10, ...retry } }]);
  const begun = new Story().when(submit(plan));
  const task = { ...begun.run.tasks.at(0), attempt };
  const story = new Story()
    .from({ ...begun.run, hash, tasks: begun.run.tasks.with(0, task) })
    .when(failed('a', attempt));
  const reopened = story.last?.events[1];
  if (reopened?.type !== 'TASK_REOPENED') throw new Error('was not tried again');
  return Date.parse(reopened.data.notBefore) - T0;
}

const hashes = fc.stringMatching(/^[0-9a-f]{64}$/u);

describe('the wait before the next attempt', () => {
  it('lies between the half and the whole of a time that doubles with every attempt', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 0, max: 60_000 }),
        hashes,
        (attempt, first, hash) => {
          const longest = first * 2 ** (attempt - 1);
          const wait = waitAfter(attempt, { backoffMs: first }, hash);
          expect(wait).toBeGreaterThanOrEqual(Math.floor(longest / 2));
          expect(wait).toBeLessThanOrEqual(longest);
        },
      ),
      { numRuns: 300, seed: 20_260_120 },
    );
  });

  it('is never longer than the policy allows', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 0, max: 60_000 }),
        hashes,
        (attempt, most, hash) => {
          expect(waitAfter(attempt, { backoffMs: 10_000, backoffMsMax: most }, hash)).toBeLessThanOrEqual(most);
        },
      ),
      { numRuns: 300, seed: 20_260_121 },
    );
  });

  it('is spread over its half, so that tasks that failed together do not come back together', () => {
    const waits = Array.from({ length: 200 }, (_, index) =>
      waitAfter(1, { backoffMs: 10_000 }, `${index}`.padStart(64, '0')),
    );
    const quarters = [0, 0, 0, 0];
    for (const wait of waits) {
      const quarter = Math.min(3, Math.floor((wait - 5_000) / 1_250));
      quarters[quarter] = (quarters[quarter] ?? 0) + 1;
    }
    expect(Math.min(...quarters)).toBeGreaterThan(25);
  });

  it('is the same for whoever decides it again', () => {
    expect(waitAfter(2, { backoffMs: 1_000 }, 'c'.repeat(64))).toBe(waitAfter(2, { backoffMs: 1_000 }, 'c'.repeat(64)));
  });

  it('is none without a backoff', () => {
    expect(waitAfter(3, { backoffMs: 0 }, 'c'.repeat(64))).toBe(0);
  });
});

describe('the next attempt', () => {
  it('goes to a device on which the task has not failed', () => {
    const view = fleet([device('web-1'), device('web-2'), device('web-3')]);
    const plan = constellation([{ id: 'a', target: { os: 'linux' }, retry: { attempts: 4, backoffMs: 0 } }]);
    const story = new Story().on(view).when(submit(plan));
    expect(story.told.at(-1)).toBe('TASK_STARTED a 1 on web-1');
    expect(story.when(failed('a', 1)).told.at(-1)).toBe('TASK_STARTED a 2 on web-2');
    expect(story.when(failed('a', 2)).told.at(-1)).toBe('TASK_STARTED a 3 on web-3');
    expect(story.when(failed('a', 3)).told.at(-1)).toBe('TASK_STARTED a 4 on web-1');
    expect(story.run.tasks.at(0).failedOn).toEqual(['web-1', 'web-2', 'web-3']);
  });

  it('waits for a slot on such a device rather than take the one on which it failed', () => {
    const plan = constellation([{ id: 'a', target: { os: 'linux' }, retry: { attempts: 2, backoffMs: 0 } }]);
    const busy = { 'web-2': 1 };
    const view = (running: Record<string, number>) =>
      fleet([device('web-1'), device('web-2', { tasksMax: 1 })], running);
    const story = new Story().on(view(busy)).when(submit(plan)).when(failed('a'));
    expect(story.told).toEqual(['TASK_FAILED a 1 EXIT_CODE failed', 'TASK_REOPENED a 1']);
    expect([...(story.last?.starvedOf ?? [])]).toEqual(['web-2']);
    expect(story.on(view({})).when(WAKE).told).toEqual(['TASK_STARTED a 2 on web-2']);
  });

  it('takes the device on which it failed when no other one is connected', () => {
    const view = fleet([device('web-1'), device('web-2', { status: 'lost' })]);
    const plan = constellation([{ id: 'a', target: { os: 'linux' }, retry: { attempts: 2, backoffMs: 0 } }]);
    expect(new Story().on(view).when(submit(plan)).when(failed('a')).told.at(-1)).toBe('TASK_STARTED a 2 on web-1');
  });

  it.each([
    ['an input cannot be delivered whole', 'INPUT_UNAVAILABLE'],
    ['the work belongs on another device', 'NEEDS_DEVICE'],
  ])('is none when %s: that does not change', (_, code) => {
    const plan = constellation([{ id: 'a', retry: { attempts: 5, backoffMs: 0 } }]);
    const story = new Story().when(submit(plan)).when(failed('a', 1, 'failed', code));
    expect(story.told).toEqual([`TASK_FAILED a 1 ${code} failed`, 'RUN_FAILED NO_TASK_COMPLETED']);
  });

  it('is the last one when the policy says so', () => {
    const plan = constellation([{ id: 'a', retry: { attempts: 2, backoffMs: 0 } }]);
    const story = new Story().when(submit(plan)).when(failed('a')).when(failed('a', 2));
    expect(story.told).toEqual(['TASK_FAILED a 2 EXIT_CODE failed', 'RUN_FAILED NO_TASK_COMPLETED']);
  });
});

describe('the deadline of a task', () => {
  it('covers all its attempts: what runs is stopped, and is not tried again', () => {
    const plan = constellation([{ id: 'a', deadlineMs: MINUTE, retry: { attempts: 5, backoffMs: 0 } }, 'o']);
    const story = new Story()
      .when(submit(plan))
      .at(30 * SECOND)
      .when(failed('a'));
    expect(story.last?.wakeAt).toBe(T0 + MINUTE);
    expect(story.at(MINUTE).when(WAKE).told).toEqual(['TASK_STOP_REQUESTED a 2 task_deadline']);
    expect(story.last?.wakeAt).toBe(T0 + MINUTE + LIMITS.stopGraceMs);
    story.when(failed('a', 2, 'cancelled'));
    expect(story.told).toEqual(['TASK_FAILED a 2 TIMEOUT timed_out']);
    expect(story.run.tasks.at(0).error?.message).toBe('did not end before its deadline and was stopped');
    expect(story.run.phase).toBe('RUNNING');
  });

  it('lets a result count that was there before the stop', () => {
    const plan = constellation([{ id: 'a', deadlineMs: MINUTE }]);
    const story = new Story().when(submit(plan)).at(MINUTE).when(WAKE).when(completed('a'));
    expect(story.told).toEqual(['TASK_COMPLETED a 1', 'RUN_COMPLETED succeeded']);
  });

  it('fails what waits, for a device, a slot, a predecessor or its next attempt', () => {
    const deadlineMs = MINUTE;
    const plan = constellation(
      [
        { id: 'away', deadlineMs, target: { device: 'db-1' } },
        'a',
        { id: 'slot', deadlineMs },
        { id: 'behind', deadlineMs },
        { id: 'again', deadlineMs, retry: { attempts: 3, backoffMs: 10 * MINUTE } },
        'after',
      ],
      ['a->behind', 'behind=>after'],
    );
    const view = fleet([device('web-1', { tasksMax: 1 }), device('db-1', { status: 'lost' })]);
    const story = new Story().on(fleet([device('web-1', { tasksMax: 8 })], {}, false)).when(submit(plan));
    story.when(failed('again'), failed('slot', 1, 'unknown'));
    expect(story.status('again')).toBe('PENDING');
    story.on(view).at(MINUTE).when(WAKE);
    expect(story.told).toEqual([
      'TASK_FAILED away 0 DEADLINE timed_out',
      'TASK_FAILED behind 0 DEADLINE timed_out',
      'TASK_FAILED again 1 DEADLINE timed_out',
      'TASK_SKIPPED after by failure',
    ]);
    expect(checkInvariants(story.run)).toEqual([]);
  });

  it('fails what is held by an open round, too', () => {
    const plan = constellation(['a', { id: 'b', deadlineMs: MINUTE }, 'o'], ['a->b']);
    const story = new Story().when(submit(plan, { options: { editPolicy: 'when-needed' } })).when(failed('a'));
    expect(story.at(MINUTE).when(WAKE).told).toEqual(['TASK_FAILED b 0 DEADLINE timed_out']);
    expect(story.run.queued).toEqual([{ kind: 'task', taskId: 'b', attempt: 0 }]);
  });

  it('counts for a task that is added from then on', () => {
    const story = new Story().when(submit(constellation(['a']))).at(MINUTE);
    story.when({
      kind: 'proposal',
      by: { kind: 'person', id: 'alice' },
      planHash: null,
      source: 'rule',
      used: NO_USAGE,
      proposal: {
        editId: null,
        try: 1,
        baseRevision: null,
        state: 'CONTINUE',
        edits: [{ tool: 'add_task', task: constellation([{ id: 'n', deadlineMs: MINUTE }]).tasks[0] as never }],
      },
    });
    expect(story.run.tasks.at(1).deadlineAt).toBe(instant(2 * MINUTE));
  });

  it('stops an attempt whose timeout is later, and leaves alone one that is being stopped', () => {
    const plan = constellation([{ id: 'a', deadlineMs: MINUTE, timeoutMs: MINUTE - SECOND }]);
    const story = new Story()
      .when(submit(plan))
      .at(MINUTE - SECOND)
      .when(WAKE);
    expect(story.told).toEqual(['TASK_STOP_REQUESTED a 1 timeout']);
    expect(story.at(MINUTE).when(WAKE).told).toEqual([]);
    expect(story.when(failed('a', 1, 'cancelled')).told[0]).toBe('TASK_FAILED a 1 TIMEOUT timed_out');
  });
});

describe('the deadline of a run', () => {
  it('is enforced in every state: while it waits for a device, and while it is paused', () => {
    const request = submit(constellation(['a']), { deadlineAt: instant(MINUTE) });
    const away = fleet([device('web-1', { status: 'suspect' })]);
    const waiting = new Story().on(away).when(request);
    expect(waiting.at(MINUTE).when(WAKE).told).toEqual(['TASK_CANCELLED a 0 run_deadline', 'RUN_FAILED DEADLINE']);
    const paused = new Story()
      .on(away)
      .when(request)
      .when(verb({ verb: 'PAUSE' }));
    expect(paused.at(MINUTE).when(WAKE).told.at(-1)).toBe('RUN_FAILED DEADLINE');
  });

  it('is not waited for once the run is about to end', () => {
    const story = new Story().when(submit(constellation(['a']), { deadlineAt: instant(5 * SECOND) }));
    story.when(verb({ verb: 'CANCEL' }));
    expect(story.last?.wakeAt).toBe(T0 + LIMITS.stopGraceMs);
    expect(story.at(5 * SECOND).when(WAKE).told).toEqual([]);
  });

  it('ends an open round', () => {
    const request = submit(constellation(['a', 'b']), {
      deadlineAt: instant(MINUTE),
      options: { editPolicy: 'when-needed' },
    });
    const story = new Story().when(request).when(failed('a')).at(MINUTE).when(WAKE);
    expect(story.told).toEqual(['EDIT_ABANDONED e1 RUN_ENDING', 'TASK_STOP_REQUESTED b 1 run_deadline']);
  });

  it('is met by a run whose last result is told when it passes, whatever the planner might still have said', () => {
    const request = (plan: TaskConstellation) =>
      submit(plan, { deadlineAt: instant(MINUTE), options: { editPolicy: 'when-needed' } });
    const story = new Story().when(request(constellation(['a', 'b']))).when(completed('a'));
    expect(story.at(MINUTE).when(completed('b')).told).toEqual(['TASK_COMPLETED b 1', 'RUN_COMPLETED succeeded']);
    const asked = new Story().when(request(constellation(['a']))).when(completed('a'));
    expect(asked.at(MINUTE).when(WAKE).told).toEqual(['EDIT_ABANDONED e1 RUN_ENDING', 'RUN_COMPLETED succeeded']);
    const failing = new Story().when(request(constellation(['a', 'b']))).when(completed('a'));
    expect(failing.at(MINUTE).when(failed('b')).told.at(-1)).toBe('RUN_COMPLETED partially_failed');
  });

  it('keeps a failed attempt from being tried again', () => {
    const plan = constellation([{ id: 'a', retry: { attempts: 2, backoffMs: 0 } }]);
    const story = new Story()
      .when(submit(plan, { deadlineAt: instant(MINUTE) }))
      .at(MINUTE)
      .when(failed('a'));
    expect(story.told).toEqual(['TASK_FAILED a 1 EXIT_CODE failed', 'RUN_FAILED NO_TASK_COMPLETED']);
  });
});

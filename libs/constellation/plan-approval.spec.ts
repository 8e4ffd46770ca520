import { describe, expect, it } from '@jest/globals';
import type { RunOptions } from '#proto';
import { forkedFrom } from './fold/fork.js';
import {
  add,
  ALICE,
  ask,
  build,
  change,
  constellation,
  HASH,
  imagine,
  insert,
  instant,
  PLANNER,
  propose,
  Story,
  submit,
  T0,
  verb,
  WAKE,
} from './testing/given.js';
import { checkInvariants } from './fold/invariants.js';
import { emptyRun } from './state/run.js';
import { viewOf } from './views/view.js';

const HOUR = 3_600_000;
const APPROVE: RunOptions = { plan: 'approve' };
const PLAN = constellation(['a', 'b'], ['a->b']);
const planned = (options: RunOptions = APPROVE) =>
  new Story().when(ask({ options, deadlineAt: instant(2 * HOUR) })).when(imagine('e1', [build(PLAN)]));

describe('a plan that waits for approval', () => {
  it('pauses the run in the commit that makes it, and nothing starts', () => {
    const story = planned();
    expect(story.told).toEqual(['CONSTELLATION_MODIFIED e1 revision 1', 'RUN_PAUSED']);
    expect(story.last?.events[1]).toEqual({
      type: 'RUN_PAUSED',
      data: {
        by: 'system',
        reason: 'the plan waits for approval',
        pausedAt: instant(0),
        waitsFor: 'plan_approval',
      },
    });
    expect(story.at(HOUR).when(WAKE).told).toEqual([]);
    expect(checkInvariants(story.run)).toEqual([]);
  });

  it('says what it waits for, who wakes it, and when the deadline does', () => {
    const story = planned();
    expect(viewOf(story.run)).toMatchObject({
      status: 'PAUSED',
      waitingFor: {
        reason: 'approval',
        detail: 'approval of the plan',
        wokenBy: 'operator',
        wakesAt: instant(2 * HOUR),
      },
    });
    expect(story.last?.wakeAt).toBe(T0 + HOUR); // nothing is armed further ahead
  });

  it('starts with a RESUME of a person', () => {
    const story = planned().when(verb({ verb: 'RESUME' }));
    expect(story.told).toEqual(['RUN_RESUMED by alice', 'TASK_STARTED a 1 on web-1 judged']);
    expect(story.run.waitsFor).toBeNull();
  });

  it('is accepted by nobody but a person', () => {
    const story = planned().when(verb({ verb: 'RESUME' }, 'v1', PLANNER));
    expect(story.answers.at(-1)).toMatchObject({ kind: 'rejected', reason: { code: 'UNAUTHORIZED' } });
    expect(story.told).toEqual([]);
    // A pause that is no question may be ended by a program.
    const paused = new Story()
      .when(submit(PLAN), verb({ verb: 'PAUSE' }))
      .when(verb({ verb: 'RESUME' }, 'v1', PLANNER));
    expect(paused.answers.at(-1)).toEqual({ kind: 'accepted' });
  });

  it('is refused with a CANCEL', () => {
    const story = planned().when(verb({ verb: 'CANCEL', reason: 'not on a Friday' }));
    expect(story.told).toEqual([
      'TASK_CANCELLED a 0 cancelled',
      'TASK_CANCELLED b 0 cancelled',
      'RUN_CANCELLED by alice',
    ]);
    expect(story.run.waitsFor).toBeNull();
  });

  it('ends with the deadline of its run', () => {
    const story = planned()
      .at(2 * HOUR)
      .when(WAKE);
    expect(story.told.at(-1)).toBe('RUN_FAILED DEADLINE');
    expect(checkInvariants(story.run)).toEqual([]);
  });

  it('may be changed meanwhile, and waits on', () => {
    const story = planned().when(insert([add.task('n'), change.task('a', { priority: 2 })]));
    expect(story.told).toEqual(['CONSTELLATION_MODIFIED unasked revision 2']);
    expect(viewOf(story.run).waitingFor?.reason).toBe('approval');
    expect(story.when(verb({ verb: 'RESUME' })).told).toEqual([
      'RUN_RESUMED by alice',
      'TASK_STARTED a 1 on web-1 judged',
      'TASK_STARTED n 1 on web-1',
    ]);
  });

  it('has been paused already for everybody who says PAUSE', () => {
    const story = planned().when(verb({ verb: 'PAUSE' }), { kind: 'pause', reason: 'poison' });
    expect(story.answers.slice(-2)).toEqual([
      { kind: 'ignored', reason: 'PAUSED_BEFORE' },
      { kind: 'ignored', reason: 'NOT_RUNNING' },
    ]);
  });

  it('waits, too, when somebody had paused the run before there was one', () => {
    const story = new Story().when(ask({ options: APPROVE })).when(verb({ verb: 'PAUSE' }));
    story.when(imagine('e1', [build(PLAN)]));
    expect(story.told).toEqual(['CONSTELLATION_MODIFIED e1 revision 1']);
    expect(viewOf(story.run).waitingFor).toMatchObject({ reason: 'approval', detail: 'approval of the plan' });
    story.when(verb({ verb: 'RESUME' }, 'v1', PLANNER));
    expect(story.answers.at(-1)).toMatchObject({ reason: { code: 'UNAUTHORIZED' } });
    expect(story.when(verb({ verb: 'RESUME' })).status('a')).toBe('RUNNING');
  });

  it('waits in a fork, too', () => {
    const story = planned();
    const run = { ...story.run, number: 3, sequence: story.events.length, hash: HASH };
    const forked = forkedFrom({ run, by: ALICE, requestId: 'f', now: T0 });
    const fork = new Story().from(emptyRun('run-2')).when({ kind: 'fork', id: 'f', forked });
    expect(fork.told).toEqual(['RUN_FORKED']);
    expect(viewOf(fork.run)).toMatchObject({ status: 'PAUSED', waitingFor: { reason: 'approval' } });
    expect(checkInvariants(fork.run)).toEqual([]);
    expect(fork.when(verb({ verb: 'RESUME' })).told).toEqual([
      'RUN_RESUMED by alice',
      'TASK_STARTED a 1 on web-1 judged',
    ]);
  });

  it('is asked about whatever it was made from, and only about the plan of a goal', () => {
    const book = new Story()
      .when(ask({ options: APPROVE }))
      .when(propose('e1', [build(PLAN)], {}, { source: 'runbook' }));
    expect(book.told.at(-1)).toBe('RUN_PAUSED');
    expect(new Story().when(submit(PLAN, { options: APPROVE })).told.at(-1)).toBe('TASK_STARTED a 1 on web-1');
    expect(planned({ plan: 'start' }).told.at(-1)).toBe('TASK_STARTED a 1 on web-1 judged');
  });

  it('is not asked about when the plan is the end', () => {
    for (const state of ['FINISH', 'FAIL'] as const) {
      const story = new Story().when(ask({ options: APPROVE })).when(imagine('e1', [build(PLAN)], { state }));
      expect(story.told.some((line) => line.startsWith('RUN_PAUSED'))).toBe(false);
      expect(story.run.endedAt).not.toBeNull();
    }
  });

  it('is not asked about later edits', () => {
    const story = planned({ ...APPROVE, editPolicy: 'every-result' }).when(verb({ verb: 'RESUME' }));
    story.when({
      kind: 'attempt-ended',
      taskId: 'a',
      attempt: 1,
      attemptHash: HASH,
      finished: { status: 'completed', result: { value: 1 } },
    });
    expect(story.when(imagine('e2', [add.task('n')])).told.at(-1)).toBe('TASK_STARTED n 1 on web-1 judged');
  });
});

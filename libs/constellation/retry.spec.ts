import { describe, expect, it } from '@jest/globals';
import { DEFAULTS, LIMITS } from '#proto';
import {
  add,
  ALICE,
  completed,
  constellation,
  device,
  failed,
  fleet,
  instant,
  propose,
  Story,
  submit,
  T0,
  verb,
  WAKE,
} from './testing/given.js';
import { checkInvariants } from './fold/invariants.js';
import { viewOf } from './views/view.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const retry = (taskId: string, id = `retry-${taskId}`) => verb({ verb: 'RETRY', taskId }, id);

const linesOf = ({ run }: Story) =>
  Object.fromEntries(viewOf(run).lines.map(({ id, satisfied }) => [id, satisfied] as const));

describe('RETRY of a task that FAILED', () => {
  it('opens it again, with the next attempt, by whoever asked', () => {
    const story = new Story()
      .when(submit(constellation(['a', 'b'])))
      .when(failed('a'))
      .when(retry('a'));
    expect(story.told).toEqual(['TASK_REOPENED a 1 by operator', 'TASK_STARTED a 2 on web-1']);
    expect(story.last?.events[0]).toEqual({
      type: 'TASK_REOPENED',
      data: { taskId: 'a', attempt: 1, reason: 'operator', by: ALICE, notBefore: instant(0), lines: [] },
    });
  });

  it('also when nobody knows what the last attempt has done: that is what the person takes on', () => {
    const story = new Story()
      .when(submit(constellation(['a', 'b'])))
      .when(failed('a', 1, 'unknown'))
      .when(retry('a'));
    expect(story.told.at(-1)).toBe('TASK_STARTED a 2 on web-1');
  });

  it('opens again what was skipped because of it, all the way down', () => {
    const plan = constellation(['a', 'b', 'c', 'd', 'o'], ['a=>b', 'b=>c', 'c->d']);
    const story = new Story().when(submit(plan)).when(failed('a'));
    expect(story.status('d')).toBe('RUNNING');
    story.when(retry('a'));
    expect(story.told).toEqual([
      'TASK_REOPENED a 1 by operator',
      'TASK_REOPENED b 0 by operator',
      'TASK_REOPENED c 0 by operator',
      'TASK_STARTED a 2 on web-1',
    ]);
    expect(linesOf(story)).toEqual({ 'a-b': null, 'b-c': null, 'c-d': true });
    expect(checkInvariants(story.run)).toEqual([]);
    expect(story.when(completed('a', 2)).told).toEqual(['TASK_COMPLETED a 2', 'TASK_STARTED b 1 on web-1']);
    expect(story.when(completed('b')).when(completed('c')).when(completed('d')).when(completed('o')).told.at(-1)).toBe(
      'RUN_COMPLETED succeeded',
    );
  });

  it('leaves what has run as it is, with the line that led to it', () => {
    const plan = constellation(['a', 'b', 'c', 'o'], ['a->b', 'a->c']);
    const story = new Story().when(submit(plan)).when(failed('a')).when(completed('b')).when(retry('a'));
    expect(story.told).toEqual(['TASK_REOPENED a 1 by operator', 'TASK_STARTED a 2 on web-1']);
    expect(linesOf(story)).toEqual({ 'a-b': true, 'a-c': true });
    expect(story.when(completed('a', 2)).told).toEqual(['TASK_COMPLETED a 2']);
    expect(story.run.tasks.at(1)).toMatchObject({ status: 'COMPLETED', attempt: 1 });
  });

  it('opens the line to what waits for it and for something else', () => {
    const plan = constellation(['a', 'x', 'b'], ['a->b', 'x->b']);
    const story = new Story().when(submit(plan)).when(failed('a')).when(retry('a')).when(completed('x'));
    expect(story.told).toEqual(['TASK_COMPLETED x 1']);
    expect(story.when(completed('a', 2)).told.at(-1)).toBe('TASK_STARTED b 1 on web-1');
  });

  it('leaves skipped what was skipped for another reason, too, until that is gone as well', () => {
    const plan = constellation(['a', 'x', 'b', 'o'], ['a=>b', 'x=>b']);
    const story = new Story().when(submit(plan)).when(failed('a')).when(failed('x')).when(retry('a'));
    expect(story.told).toEqual(['TASK_REOPENED a 1 by operator', 'TASK_STARTED a 2 on web-1']);
    expect(story.status('b')).toBe('SKIPPED');
    expect(linesOf(story)).toEqual({ 'a-b': null, 'x-b': false });
    story.when(completed('a', 2));
    expect(linesOf(story)).toEqual({ 'a-b': true, 'x-b': false });
    expect(story.when(retry('x')).told).toEqual([
      'TASK_REOPENED x 1 by operator',
      'TASK_REOPENED b 0 by operator',
      'TASK_STARTED x 2 on web-1',
    ]);
    expect(story.when(completed('x', 2)).told).toEqual(['TASK_COMPLETED x 2', 'TASK_STARTED b 1 on web-1']);
  });

  it('opens again what was skipped for two reasons when both are tried again at once', () => {
    const plan = constellation(['a', 'x', 'b', 'o'], ['a=>b', 'x=>b']);
    const story = new Story().when(submit(plan)).when(failed('a'), failed('x')).when(retry('a')).when(retry('x'));
    expect(story.told[1]).toBe('TASK_REOPENED b 0 by operator');
    expect(linesOf(story)).toEqual({ 'a-b': null, 'x-b': null });
    story.when(completed('x', 2));
    expect(story.status('b')).toBe('PENDING');
    expect(story.when(failed('a', 2)).told).toEqual(['TASK_FAILED a 2 EXIT_CODE failed', 'TASK_SKIPPED b by failure']);
  });

  it('judges anew the line to what was skipped in the end, though it had run before', () => {
    const again = { id: 'b', retry: { attempts: 2, backoffMs: HOUR } };
    const plan = constellation(['a', 'f', again, 'o'], ['a?status == "FAILED">b']);
    const story = new Story().when(submit(plan)).when(failed('a')).when(failed('b')).when(failed('f'));
    story.when(propose(null, [add.line('f=>b')]));
    expect(story.told.at(-1)).toBe('TASK_SKIPPED b by failure');
    story.when(retry('a')).when(completed('a', 2)).when(retry('f'));
    expect(linesOf(story)).toEqual({ 'a-b': false, 'f-b': null });
    expect(story.status('b')).toBe('SKIPPED');
  });

  it('leaves what a condition chose not to take, and what hangs from that', () => {
    const plan = constellation(['a', 'x', 'b', 'c', 'o'], ['a=>b', 'x?false>b', 'b=>c']);
    const story = new Story().when(submit(plan)).when(completed('x')).when(failed('a')).when(retry('a'));
    expect(story.told).toEqual(['TASK_REOPENED a 1 by operator', 'TASK_STARTED a 2 on web-1']);
    expect(['b', 'c'].map((id) => story.status(id))).toEqual(['SKIPPED', 'SKIPPED']);
  });

  it('forgets on which devices it failed, and counts its tries as the policy does from there', () => {
    const plan = constellation([{ id: 'a', target: { os: 'linux' }, retry: { attempts: 2, backoffMs: 0 } }, 'o']);
    const view = fleet([device('web-1'), device('web-2')]);
    const story = new Story().on(view).when(submit(plan)).when(failed('a'));
    expect(story.told.at(-1)).toBe('TASK_STARTED a 2 on web-2');
    story.when(failed('a', 2)).when(retry('a'));
    expect(story.run.tasks.at(0)).toMatchObject({ failedOn: [], status: 'RUNNING', attempt: 3 });
    expect(story.when(failed('a', 3)).told).toEqual(['TASK_FAILED a 3 EXIT_CODE failed']);
  });

  it('gives a task whose deadline has passed another one, counted from now', () => {
    const plan = constellation([{ id: 'a', deadlineMs: HOUR }, { id: 'b', deadlineMs: 2 * HOUR }, 'o'], ['a=>b']);
    const story = new Story()
      .when(submit(plan))
      .when(failed('a'))
      .at(3 * HOUR)
      .when(retry('a'));
    expect(story.told).toEqual([
      'TASK_REOPENED a 1 by operator',
      'TASK_REOPENED b 0 by operator',
      'TASK_STOP_REQUESTED o 1 timeout',
      'TASK_STARTED a 2 on web-1',
    ]);
    expect(story.run.tasks.at(0).deadlineAt).toBe(instant(4 * HOUR));
    expect(story.run.tasks.at(1).deadlineAt).toBe(instant(5 * HOUR));
    expect(story.at(4 * HOUR).when(WAKE).told).toContain('TASK_STOP_REQUESTED a 2 task_deadline');
  });

  it('takes away why it was skipped, with the skip', () => {
    const plan = constellation(['a', 'b', 'o'], ['a=>b']);
    const story = new Story().when(submit(plan)).when(failed('a')).when(retry('a'));
    expect(viewOf(story.run).tasks[1]).toMatchObject({ status: 'PENDING', reason: null, endedAt: null });
  });
});

describe('RETRY of a task that RUNS', () => {
  it('stops it and opens it again when it has ended', () => {
    const story = new Story().when(submit(constellation(['a', 'b'], ['a->b']))).when(retry('a'));
    expect(story.last?.events).toEqual([
      {
        type: 'TASK_STOP_REQUESTED',
        data: {
          taskId: 'a',
          attempt: 1,
          reason: 'retry',
          by: ALICE,
          requestedAt: instant(0),
          graceUntil: instant(LIMITS.stopGraceMs),
        },
      },
    ]);
    expect(story.when(failed('a', 1, 'cancelled')).told).toEqual([
      'TASK_CANCELLED a 1 retry',
      'TASK_REOPENED a 1 by operator',
      'TASK_STARTED a 2 on web-1',
    ]);
    expect(story.last?.events[0]?.data).toMatchObject({ lines: [], by: ALICE });
    expect(linesOf(story)).toEqual({ 'a-b': null });
    expect(story.run.ending).toBeNull();
  });

  it('opens it again when the grace passes without an end', () => {
    const story = new Story()
      .when(submit(constellation(['a'])))
      .when(retry('a'))
      .at(LIMITS.stopGraceMs)
      .when(WAKE);
    expect(story.told.at(-1)).toBe('TASK_STARTED a 2 on web-1');
    expect(story.when(completed('a', 1)).answers.at(-1)).toEqual({ kind: 'ignored', reason: 'STALE_ATTEMPT' });
  });

  it('is answered by a result that was there before the stop', () => {
    const story = new Story()
      .when(submit(constellation(['a'])))
      .when(retry('a'))
      .when(completed('a'));
    expect(story.told).toEqual(['TASK_COMPLETED a 1', 'RUN_COMPLETED succeeded']);
  });

  it('is ignored when it was said before, and takes over a stop for time', () => {
    const plan = constellation([{ id: 'a', timeoutMs: 1_000 }]);
    const story = new Story().when(submit(plan)).at(1_000).when(WAKE).at(2_000).when(retry('a'));
    expect(story.last?.events[0]?.data).toMatchObject({ reason: 'retry', graceUntil: instant(11_000) });
    expect(story.when(retry('a', 'again')).answers.at(-1)).toEqual({ kind: 'ignored', reason: 'RETRIED_BEFORE' });
    expect(story.when(failed('a', 1, 'cancelled')).told[0]).toBe('TASK_CANCELLED a 1 retry');
  });

  it('triggers no edit and is no failure', () => {
    const story = new Story().when(submit(constellation(['a']), { options: { editPolicy: 'every-result' } }));
    story
      .when(retry('a'))
      .when(failed('a', 1, 'cancelled'))
      .when(completed('a', 2))
      .when(propose('e1', []));
    expect(story.told.at(-1)).toBe('RUN_COMPLETED succeeded');
  });
});

describe('RETRY after the end of the run', () => {
  it('opens the run again; its deadline counts from now', () => {
    const story = new Story().when(submit(constellation(['a', 'b'], ['a=>b']))).when(failed('a'));
    expect(story.run.phase).toBe('FAILED');
    story.at(2 * DAY).when(retry('a'));
    expect(story.told).toEqual([
      'RUN_REOPENED by alice',
      'TASK_REOPENED a 1 by operator',
      'TASK_REOPENED b 0 by operator',
      'TASK_STARTED a 2 on web-1',
    ]);
    expect(story.last?.events[0]).toEqual({
      type: 'RUN_REOPENED',
      data: { by: ALICE, reopenedAt: instant(2 * DAY), deadlineAt: instant(2 * DAY + DEFAULTS.runDeadlineMs) },
    });
    expect(viewOf(story.run)).toMatchObject({ status: 'RUNNING', outcome: null, reason: null, endedAt: null });
    expect(story.last?.wakeAt).toBe(T0 + 2 * DAY + DEFAULTS.taskTimeoutMs);
    expect(story.when(completed('a', 2)).when(completed('b')).told.at(-1)).toBe('RUN_COMPLETED succeeded');
  });

  it('takes the deadline of the request', () => {
    const request = submit(constellation(['a']), { options: { deadlineMs: HOUR }, deadlineAt: instant(HOUR) });
    const story = new Story()
      .when(request)
      .at(HOUR)
      .when(WAKE)
      .when(failed('a', 1, 'cancelled'));
    expect(story.told.at(-1)).toBe('RUN_FAILED DEADLINE');
    story.at(2 * HOUR).when(retry('a'));
    expect(story.run.deadlineAt).toBe(instant(3 * HOUR));
    expect(story.told.at(-1)).toBe('TASK_STARTED a 2 on web-1');
  });

  it('of a cancelled run runs that task and what waited for it, and leaves cancelled what did not', () => {
    const plan = constellation(['a', 'b', 'c', 'd', 'e'], ['a->b', 'b=>c', 'e=>c', 'd->e']);
    const story = new Story()
      .when(submit(plan))
      .when(verb({ verb: 'CANCEL' }))
      .when(failed('a', 1, 'cancelled'), failed('d', 1, 'cancelled'));
    expect(story.run.phase).toBe('CANCELLED');
    story.when(retry('a'));
    const reopened = ['TASK_REOPENED a 1 by operator', 'TASK_REOPENED b 0 by operator'];
    expect(story.told).toEqual(['RUN_REOPENED by alice', ...reopened, 'TASK_STARTED a 2 on web-1']);
    expect(story.when(completed('a', 2)).told.at(-1)).toBe('TASK_STARTED b 1 on web-1');
    // c waits for e as well, which was cancelled: whoever wants it tries d again, too.
    expect(['c', 'd', 'e'].map((id) => story.status(id))).toEqual(['CANCELLED', 'CANCELLED', 'CANCELLED']);
    story.when(retry('d'));
    expect(['b', 'c', 'd', 'e'].map((id) => story.status(id))).toEqual(['RUNNING', 'PENDING', 'RUNNING', 'PENDING']);
    story.when(completed('b')).when(completed('d', 2)).when(completed('e'));
    expect(story.when(completed('c')).told.at(-1)).toBe('RUN_COMPLETED succeeded');
  });

  it('leaves cancelled what ran when it was: whether it may run again is asked about that one', () => {
    const plan = constellation(['a', 'b', 'c'], ['a->b']);
    const story = new Story()
      .when(submit(plan))
      .when(failed('a'))
      .when(verb({ verb: 'CANCEL' }))
      .when(failed('b', 1, 'cancelled'), failed('c', 1, 'cancelled'));
    story.when(retry('a'));
    expect(story.told).toEqual(['RUN_REOPENED by alice', 'TASK_REOPENED a 1 by operator', 'TASK_STARTED a 2 on web-1']);
    expect(story.status('b')).toBe('CANCELLED');
  });

  it('of a task that never ran waits for its predecessor that is tried again', () => {
    const plan = constellation(['a', 'b'], ['a->b']);
    const story = new Story()
      .when(submit(plan))
      .when(verb({ verb: 'CANCEL' }))
      .when(failed('a', 1, 'cancelled'));
    story.when(retry('a')).when(retry('b'));
    expect(story.answers.at(-1)).toEqual({ kind: 'ignored', reason: 'PENDING' });
    expect(story.when(completed('a', 2)).told).toEqual(['TASK_COMPLETED a 2', 'TASK_STARTED b 1 on web-1']);
  });

  it('of a paused run that goes on starts when it is resumed', () => {
    const story = new Story().when(submit(constellation(['a', 'b']))).when(failed('a'), verb({ verb: 'PAUSE' }));
    expect(story.when(retry('a')).told).toEqual(['TASK_REOPENED a 1 by operator']);
    expect(story.when(verb({ verb: 'RESUME' })).told.at(-1)).toBe('TASK_STARTED a 2 on web-1');
  });

  it('asks the planner again about a failure, and not about an end that was looked at', () => {
    const story = new Story().when(submit(constellation(['a', 'b']), { options: { editPolicy: 'when-needed' } }));
    story.when(failed('a'), completed('b')).when(propose('e1', []));
    expect(story.run.phase).toBe('COMPLETED');
    story.when(retry('a')).when(completed('a', 2));
    expect(story.told).toEqual(['TASK_COMPLETED a 2', 'RUN_COMPLETED succeeded']);
  });
});

describe('RETRY is not for', () => {
  const plan = constellation(['a', 'b', 'c', 'o'], ['a=>b', 'b->c', 'o->c']);
  const story = () => new Story().when(submit(plan)).when(failed('a'));

  it('a task nobody knows', () => {
    expect(story().when(retry('z')).answers.at(-1)).toMatchObject({
      kind: 'rejected',
      reason: { code: 'NOT_FOUND', message: 'taskId: there is no task "z"; known are a, b, c, o' },
    });
  });

  it('a task that is pending', () => {
    expect(story().when(retry('c')).answers.at(-1)).toEqual({ kind: 'ignored', reason: 'PENDING' });
  });

  it('a task that has completed: a fork executes it again', () => {
    expect(story().when(completed('o')).when(retry('o')).answers.at(-1)).toMatchObject({
      kind: 'rejected',
      reason: { code: 'INVALID_STATE', message: 'taskId: "o" is COMPLETED; fork the run to execute it again' },
    });
  });

  it('a task that would be skipped again at once: what is behind it comes first', () => {
    expect(story().when(retry('b')).answers.at(-1)).toMatchObject({
      kind: 'rejected',
      reason: {
        code: 'INVALID_STATE',
        message: 'taskId: "b" cannot start, line a-b: a is FAILED; retry "a" first',
      },
    });
  });

  it('a run that is about to end', () => {
    const ending = story()
      .when(verb({ verb: 'CANCEL' }))
      .when(retry('a'));
    expect(ending.answers.at(-1)).toMatchObject({
      reason: { code: 'INVALID_STATE', message: 'the run is about to end; retry the task when it has' },
    });
    expect(ending.told).toEqual([]);
  });
});

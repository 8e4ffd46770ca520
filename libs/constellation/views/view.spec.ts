import { describe, expect, it } from '@jest/globals';
import { RunSummary, RunView } from '#proto';
import {
  add,
  ask,
  completed,
  constellation,
  device,
  failed,
  fleet,
  instant,
  propose,
  remove,
  Story,
  submit,
  verb,
  WAKE,
} from '../testing/given.js';
import { emptyRun } from '../state/run.js';
import { summaryOf, viewOf, waitingFor } from './view.js';

const AWAY = fleet([device('web-1', { status: 'suspect' })]);

describe('the view of a run', () => {
  it('says all of it, in the form that goes over the wire', () => {
    const plan = constellation(['a', 'b', 'c'], ['a->b', 'a?result.exit_code != 0>c']);
    const story = new Story().when(submit(plan)).when(completed('a'));
    const view = viewOf(story.run);
    expect(RunView.parse(view)).toEqual(view);
    expect(view).toMatchObject({
      runId: 'run-1',
      requestId: 'request-1',
      name: 'test',
      status: 'RUNNING',
      outcome: null,
      reason: null,
      revision: 1,
      requestedBy: 'default',
      editing: null,
      parent: null,
    });
    expect(view.tasks.map(({ id, status, attempts, device: on, held }) => [id, status, attempts, on, held])).toEqual([
      ['a', 'COMPLETED', 1, 'web-1', false],
      ['b', 'RUNNING', 1, 'web-1', false],
      ['c', 'SKIPPED', 0, null, false],
    ]);
    expect(view.lines).toEqual([
      { id: 'a-b', from: 'a', to: 'b', type: 'unconditional', condition: null, satisfied: true, reason: null },
      {
        id: 'a-c',
        from: 'a',
        to: 'c',
        type: 'conditional',
        condition: 'result.exit_code != 0',
        satisfied: false,
        reason: 'the condition result.exit_code != 0 is false',
      },
    ]);
    expect(view.tasks[2]?.reason).toBe('line a-c: the condition result.exit_code != 0 is false');
  });

  it('says which round is open, what it is about, and what was refused', () => {
    const story = new Story().when(
      submit(constellation(['a', 'b', 'c'], ['a->b']), { options: { editPolicy: 'when-needed' } }),
    );
    story.when(failed('a')).when(propose('e1', [remove.task('z')], { try: 3 }));
    const view = viewOf(story.run);
    expect(RunView.parse(view)).toEqual(view);
    expect(view.editing).toEqual({
      editId: 'e1',
      mode: 'editing',
      triggers: [{ kind: 'task', taskId: 'a', attempt: 1 }],
      tries: 3,
      violations: [
        { code: 'UNKNOWN_TASK', path: 'edits[0].taskId', message: 'there is no task "z"; known are a, b, c' },
      ],
      lockPolicy: 'scoped',
      openedAt: instant(0),
      deadlineAt: instant(90_000),
    });
    expect(view.tasks.map(({ held }) => held)).toEqual([false, true, false]);
  });

  it('of a terminal run says how and when it ended', () => {
    const story = new Story()
      .when(submit(constellation(['a'])))
      .at(5_000)
      .when(completed('a'));
    expect(viewOf(story.run)).toMatchObject({
      status: 'COMPLETED',
      outcome: 'succeeded',
      endedAt: instant(5_000),
      waitingFor: null,
    });
    expect(viewOf(new Story().when(submit(constellation(['a']))).when(failed('a')).run)).toMatchObject({
      status: 'FAILED',
      outcome: null,
      reason: 'no task completed',
    });
  });

  it('is short in a list', () => {
    const summary = summaryOf(new Story().when(submit(constellation(['a', 'b']))).run);
    expect(RunSummary.parse(summary)).toEqual(summary);
    expect(summary).toMatchObject({
      runId: 'run-1',
      name: 'test',
      status: 'RUNNING',
      tasks: 2,
      requestedBy: 'default',
    });
  });

  it('of nothing there is none', () => {
    expect(() => viewOf(emptyRun('run-9'))).toThrow('run run-9 has no RUN_REQUESTED');
    expect(waitingFor(emptyRun('run-9'))).toBeNull();
  });
});

describe('a run waits', () => {
  it('for its running tasks, up to five of them by name', () => {
    const story = new Story().when(submit(constellation(['a', 'b', 'c', 'd', 'e', 'f', 'g'])));
    expect(waitingFor(story.run)).toEqual({
      reason: 'running_tasks',
      detail: 'the end of a on web-1, b on web-1, c on web-1, d on web-1, e on web-1 and 2 more',
      wokenBy: 'attempt',
      wakesAt: instant(600_000),
    });
  });

  it('for a task that is being stopped, up to its grace', () => {
    const story = new Story().when(submit(constellation(['a']))).when(verb({ verb: 'CANCEL' }));
    expect(waitingFor(story.run)?.wakesAt).toBe(instant(10_000));
  });

  it('for a device', () => {
    const story = new Story().on(AWAY).when(submit(constellation(['a', 'b', 'c'], ['a->c'])));
    expect(viewOf(story.run).status).toBe('WAITING');
    expect(waitingFor(story.run)).toMatchObject({
      reason: 'device',
      detail: 'a connected device with a free slot for a, b',
      wokenBy: 'fleet',
      wakesAt: instant(24 * 3_600_000),
    });
  });

  it('for the next try', () => {
    const plan = constellation([{ id: 'a', retry: { attempts: 2, backoffMs: 60_000 } }]);
    const story = new Story().when(submit(plan)).when(failed('a'));
    expect(waitingFor(story.run)).toMatchObject({
      reason: 'backoff',
      detail: 'the next try of a',
      wokenBy: 'timer',
      wakesAt: story.run.tasks.at(0).notBefore,
    });
  });

  it('for a device when only some of what may start waits for its next try', () => {
    const plan = constellation([{ id: 'a', retry: { attempts: 2, backoffMs: 60_000 } }, 'b'], ['a->b']);
    const story = new Story()
      .when(submit(plan))
      .when(failed('a'))
      .on(AWAY)
      .when(propose(null, [add.task('n')]));
    expect(waitingFor(story.run)).toMatchObject({ reason: 'device', detail: expect.stringContaining('a, n') });
  });

  it('for the planner when nothing else can go on', () => {
    const options = { editPolicy: 'when-needed' as const };
    const story = new Story().when(submit(constellation(['a', 'b'], ['a->b']), { options })).when(failed('a'));
    expect(waitingFor(story.run)).toEqual({
      reason: 'planner',
      detail: 'an edit about a (round e1)',
      wokenBy: 'proposal',
      wakesAt: instant(90_000),
    });
    expect(waitingFor(new Story().when(ask()).run)).toMatchObject({ reason: 'planner', detail: 'a plan (round e1)' });
  });

  it('for a device although the planner is asked, when something that is not held could start', () => {
    const options = { editPolicy: 'when-needed' as const };
    const plan = constellation(['a', { id: 'x', target: { device: 'db-1' } }, 'b'], ['a->b']);
    const view = fleet([device('web-1'), device('db-1', { status: 'lost' })]);
    const story = new Story().on(view).when(submit(plan, { options })).when(failed('a'));
    expect(waitingFor(story.run)).toMatchObject({ reason: 'device', detail: expect.stringContaining('for x') });
  });

  it('for an operator when it is paused, but first for what runs', () => {
    const story = new Story().when(submit(constellation(['a', 'b'], ['a->b']))).when(verb({ verb: 'PAUSE' }));
    expect(waitingFor(story.run)).toMatchObject({
      reason: 'running_tasks',
      detail: expect.stringMatching(/^the end of a on web-1, and then for somebody who lets it go on: paused by /u),
    });
    expect(waitingFor(story.when(completed('a')).run)).toMatchObject({ reason: 'paused', wokenBy: 'operator' });
  });

  it('for nothing when it is over', () => {
    const story = new Story()
      .when(submit(constellation(['a'])))
      .when(completed('a'))
      .when(WAKE);
    expect(waitingFor(story.run)).toBeNull();
  });
});

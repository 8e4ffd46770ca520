import { describe, expect, it } from '@jest/globals';
import type { TaskStarLine, TaskStatus } from '#proto';
import { ALICE, completed, constellation, failed, propose, add, Story, submit } from '../testing/given.js';
import type { TaskEnding } from '../plan/truth.js';
import { doomOf, judgeLine as judgeOne, judgeLines as judgeAll } from './lines.js';
import type { Run } from './run.js';
import { Judge } from '../plan/truth.js';

const judge = new Judge(undefined);
const judgeLine = (of: TaskStarLine, ending: TaskEnding) => judgeOne(of, ending, judge);
const judgeLines = (run: Run, index: number, ending: TaskEnding) => judgeAll(run, index, ending, judge);

const line = (change: Partial<TaskStarLine>): TaskStarLine => ({
  id: 'l',
  from: 'a',
  to: 'b',
  type: 'unconditional',
  ...change,
});
const ENDED: readonly TaskStatus[] = ['COMPLETED', 'FAILED', 'SKIPPED', 'CANCELLED'];

describe('a line is judged', () => {
  it.each(ENDED)('satisfied when it is unconditional and its predecessor is %s', (status) => {
    expect(judgeLine(line({}), { status, result: null })).toEqual({ id: 'l', satisfied: true });
  });

  it('satisfied by success alone when it is success-only, and says why not', () => {
    const judged = ENDED.map((status) => judgeLine(line({ type: 'success-only' }), { status, result: null }));
    expect(judged).toEqual([
      { id: 'l', satisfied: true },
      { id: 'l', satisfied: false, reason: 'a is FAILED' },
      { id: 'l', satisfied: false, reason: 'a is SKIPPED' },
      { id: 'l', satisfied: false, reason: 'a is CANCELLED' },
    ]);
  });

  it('satisfied by failure alone when it is failure-only, and says why not', () => {
    const judged = ENDED.map((status) => judgeLine(line({ type: 'failure-only' }), { status, result: null }));
    expect(judged).toEqual([
      { id: 'l', satisfied: false, reason: 'a is COMPLETED' },
      { id: 'l', satisfied: true },
      { id: 'l', satisfied: false, reason: 'a is SKIPPED' },
      { id: 'l', satisfied: false, reason: 'a is CANCELLED' },
    ]);
  });

  it.each([
    ['status == "FAILED"', 'FAILED', null, true],
    ['status == "FAILED"', 'COMPLETED', null, false],
    ['result.free < 10', 'COMPLETED', { free: 5 }, true],
    ['result.free < 10', 'COMPLETED', { free: 50 }, false],
  ] as const)('by its condition: %s when it is %s with %j is %s', (condition, status, result, satisfied) => {
    const judged = judgeLine(line({ type: 'conditional', condition }), { status, result: { value: result } });
    expect(judged?.satisfied).toBe(satisfied);
    if (!satisfied) expect(judged?.reason).toContain(condition);
  });

  it('never satisfied by a conditional line without a condition: none is recorded, and none would pass', () => {
    expect(judgeLine(line({ type: 'conditional' }), { status: 'COMPLETED', result: null })).toMatchObject({
      undecided: true,
    });
  });

  it('once: lines that were judged before are left out', () => {
    const story = new Story().when(submit(constellation(['a', 'b', 'c'], ['a->b', 'a->c'])));
    const { run } = story;
    expect(judgeLines(run, 0, { status: 'COMPLETED', result: null }).map(({ id }) => id)).toEqual(['a-b', 'a-c']);
    const judged = { ...run, lines: run.lines.with(0, { satisfied: true, reason: null }) };
    expect(judgeLines(judged, 0, { status: 'COMPLETED', result: null }).map(({ id }) => id)).toEqual(['a-c']);
  });
});

describe('what cleans up after a failure', () => {
  const plan = constellation(
    [{ id: 'a', retry: { attempts: 2, backoffMs: 0 } }, { id: 'b' }, { id: 'c' }],
    ['a!>b', 'b=>c'],
  );

  it('starts when no try is left, and not before', () => {
    const story = new Story().when(submit(plan)).when(failed('a'));
    expect(story.told).not.toContain('TASK_STARTED b 1 on web-1');
    expect(story.when(failed('a', 2)).told).toContain('TASK_STARTED b 1 on web-1');
  });

  it('is not called upon by a task that is stopped', () => {
    const cancel = { kind: 'verb', id: 'v', by: ALICE, action: { verb: 'CANCEL' } } as const;
    const story = new Story()
      .when(submit(plan))
      .when(cancel)
      .when(failed('a', 1, 'cancelled'));
    expect(story.told.filter((text) => text.startsWith('TASK_STARTED b'))).toEqual([]);
  });

  it('is judged again when a person has the task tried once more', () => {
    const held = new Story().when(submit(constellation(['a', 'b', 'o'], ['a!>b', 'o=>b']))).when(failed('a'));
    const again = held.when({ kind: 'verb', id: 'v', by: ALICE, action: { verb: 'RETRY', taskId: 'a' } });
    expect(again.when(completed('a', 2)).told).toContain('TASK_SKIPPED b by condition');
  });
});

describe('a task is doomed', () => {
  const skipped = (story: Story, taskId: string) =>
    story.events.flatMap((event) =>
      event.type === 'TASK_SKIPPED' && event.data.taskId === taskId ? [event.data] : [],
    )[0];

  it('by a failure when one of several reasons is one', () => {
    const plan = constellation(['a', 'b', 'c', 'o'], ['a?false>c', 'b=>c']);
    const story = new Story().when(submit(plan)).when(completed('a'), failed('b'));
    expect(skipped(story, 'c')).toMatchObject({ by: 'failure', lineId: 'b-c', reason: 'line b-c: b is FAILED' });
  });

  it('by a condition when it chose another branch, and so is what hangs from that', () => {
    const plan = constellation(['a', 'b', 'c', 'o'], ['a?false>b', 'b=>c']);
    const story = new Story().when(submit(plan)).when(completed('a'));
    expect(skipped(story, 'b')).toMatchObject({
      by: 'condition',
      lineId: 'a-b',
      reason: 'line a-b: the condition false is false',
    });
    expect(skipped(story, 'c')).toMatchObject({ by: 'condition', lineId: 'b-c', reason: 'line b-c: b is SKIPPED' });
  });

  it('by a condition over a failure, which then was looked at', () => {
    const plan = constellation(['a', 'b', 'o'], ['a?status == "COMPLETED">b']);
    const story = new Story().when(submit(plan)).when(failed('a'));
    expect(skipped(story, 'b')).toMatchObject({ by: 'condition' });
  });

  it('by a failure when what it hangs from was skipped by one, also through a condition', () => {
    const plan = constellation(['a', 'b', 'c', 'o'], ['a=>b', 'b?status == "COMPLETED">c']);
    const story = new Story().when(submit(plan)).when(failed('a'));
    expect(skipped(story, 'c')).toMatchObject({ by: 'failure' });
  });

  it.each([
    ['completed', ['a!>b', 'b=>c'], completed('a'), 'line a-b: a is COMPLETED'],
    ['was skipped for a failure', ['o=>a', 'a!>b', 'b=>c'], failed('o'), 'line a-b: a is SKIPPED'],
  ])('by a condition when it cleans up after what %s: there was nothing to do', (_, lines, end, reason) => {
    const story = new Story().when(submit(constellation(['o', 'a', 'b', 'c', 'x'], lines))).when(end);
    expect(skipped(story, 'b')).toMatchObject({ by: 'condition', lineId: 'a-b', reason });
    expect(skipped(story, 'c')).toMatchObject({ by: 'condition' });
  });

  it('by what an edit adds, in the commit of the edit', () => {
    const story = new Story().when(submit(constellation(['f', 'r', 'p'], ['r->p']))).when(failed('f'));
    expect(story.when(propose(null, [add.line('f=>p')])).told.at(-1)).toBe('TASK_SKIPPED p by failure');
  });

  it('by nothing is a contradiction', () => {
    const { run } = new Story().when(submit(constellation(['a'])));
    expect(() => doomOf(run, 0)).toThrow('is doomed by no line');
  });
});

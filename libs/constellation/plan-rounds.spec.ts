import { describe, expect, it } from '@jest/globals';
import type { RunOptions } from '#proto';
import {
  add,
  ask,
  build,
  completed,
  constellation,
  failed,
  giveUp,
  propose,
  Story,
  submit,
  verb,
} from './testing/given.js';
import { asksPlanner } from './state/budget.js';
import { isHeld } from './schedule/held.js';
import { checkInvariants } from './fold/invariants.js';
import { viewOf } from './views/view.js';

const WHY = 'a model was asked in 3 rounds of this run, and options.rounds allows no more';
const enough = (editId: string) => giveUp(editId, WHY, { error: { code: 'TOO_MANY_ROUNDS', message: WHY } });
const failure = (editId: string, code: string) => giveUp(editId, 'so', { error: { code, message: 'so' } });

/** `a` has failed, `c` hangs from it and is held; `b` runs, and `d` waits for it. */
const failing = (options: RunOptions = {}) =>
  new Story()
    .when(ask({ options }))
    .when(propose('e1', [build(constellation(['a', 'b', 'c', 'd'], ['a->c', 'b->d']))]))
    .when(failed('a'));

describe('a planner that has asked its model as often as it may', () => {
  it('is not asked any more: what runs ends, what waited goes on, and so does the run to its end', () => {
    const story = failing();
    expect(story.told.at(-1)).toBe('EDIT_OPENED e2 a.1 scoped');
    expect(story.when(enough('e2')).told).toEqual(['EDIT_ABANDONED e2 TOO_MANY_ROUNDS', 'TASK_STARTED c 1 on web-1']);
    expect(asksPlanner(story.run)).toBe(false);
    expect(story.when(completed('b')).told).toEqual(['TASK_COMPLETED b 1', 'TASK_STARTED d 1 on web-1']);
    expect(story.when(failed('d')).told).toEqual(['TASK_FAILED d 1 EXIT_CODE failed']);
    expect(story.run.queued).toHaveLength(1);
    expect(isHeld(story.run)(0)).toBe(false);
    expect(story.when(completed('c')).told).toEqual(['TASK_COMPLETED c 1', 'RUN_COMPLETED partially_failed']);
    expect(checkInvariants(story.run)).toEqual([]);
  });

  it('is not asked at the end of the plan either, and the answer says so', () => {
    const story = new Story().when(ask()).when(propose('e1', [build(constellation(['a']))]));
    expect(story.when(completed('a')).told.at(-1)).toBe('EDIT_OPENED e2 end-of-plan scoped');
    expect(story.when(enough('e2')).told).toEqual(['EDIT_ABANDONED e2 TOO_MANY_ROUNDS', 'RUN_COMPLETED succeeded']);
    expect(viewOf(story.run).answer).toMatchObject({ by: 'collected' });
    expect(viewOf(story.run).answer?.text).toContain(`The planner was not asked whether that was all: ${WHY}`);
  });

  it('stays so when a person has something tried again, or adds something', () => {
    const story = failing().when(enough('e2'));
    story.when(propose(null, [add.task('x')])).when(completed('x'));
    story.when(completed('b')).when(completed('c'), completed('d'));
    expect(story.told.at(-1)).toBe('RUN_COMPLETED partially_failed');
    story.when(verb({ verb: 'RETRY', taskId: 'a' }));
    expect(story.when(failed('a', 2)).told).toEqual([
      'TASK_FAILED a 2 EXIT_CODE failed',
      'RUN_COMPLETED partially_failed',
    ]);
  });

  it('ends a run that has no plan, with its reason', () => {
    const story = new Story().when(ask());
    expect(story.when(enough('e1')).told).toEqual(['EDIT_ABANDONED e1 TOO_MANY_ROUNDS', 'RUN_FAILED PLAN_FAILED']);
    expect(viewOf(story.run)).toMatchObject({ reason: WHY, answer: { text: 'Nothing was done.' } });
  });

  it('is asked again after any other failure', () => {
    const story = failing().when(failure('e2', 'BUDGET_EXHAUSTED'));
    expect(story.told[0]).toBe('EDIT_ABANDONED e2 PLANNER_FAILED');
    expect(story.when(failed('b')).told.at(-1)).toBe('EDIT_OPENED e3 b.1 scoped');
  });

  it('speaks again after it was silent', () => {
    const story = failing().at(90_000).when({ kind: 'wake' });
    expect(story.run.plannerSilent).toBe(true);
    story.when(failed('b'));
    expect(story.when(enough('e3')).run).toMatchObject({ plannerSilent: false, noMoreRounds: WHY });
  });
});

describe('what the first plan came from', () => {
  it.each(['model', 'runbook', 'rule'] as const)('is known of a %s, whoever edits it later', (source) => {
    const story = new Story().when(ask()).when(propose('e1', [build(constellation(['a', 'b']))], {}, { source }));
    expect(story.run.planSource).toBe(source);
    story.when(failed('a')).when(propose('e2', [add.task('x')], {}, { source: 'model' }));
    expect(story.run.planSource).toBe(source);
  });

  it('is not known of what was given', () => {
    const story = new Story().when(submit(constellation(['a', 'b']), { options: { editPolicy: 'when-needed' } }));
    story.when(failed('a')).when(propose('e1', [add.task('x')], {}, { source: 'runbook' }));
    expect(story.run.planSource).toBeNull();
  });
});

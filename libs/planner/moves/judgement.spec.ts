import { describe, expect, it } from '@jest/globals';
import type { EditTrigger } from '#proto';
import { foldEvents, type Run } from '#libs/constellation';
import { completed, failed, plan, star, Story } from './given.testing.js';
import { judgementOf, type JudgeKnown } from './judgement.js';

const MODEL = { model: true, reviewed: false };
const NOBODY = { model: false, reviewed: false };
const RUNBOOK = { model: true, reviewed: true };
const NEEDED = { needed: true };

function judged(story: Story, judge: JudgeKnown) {
  const triggers = story.run.editing?.triggers ?? [];
  expect(triggers).not.toEqual([]);
  return judgementOf(story.run, triggers, judge);
}

const every = { editPolicy: 'every-result' } as const;

describe('a result that nobody wanted to see', () => {
  const triggers: EditTrigger[] = [{ kind: 'task', taskId: 'a', attempt: 1 }];

  it.each([MODEL, NOBODY, RUNBOOK])('changes nothing, whoever is there: %j', (judge) => {
    const { run } = Story.of(plan(['a', 'b'], ['a->b'])).when(completed('a'));
    expect(judgementOf(run, triggers, judge)).toEqual({
      needed: false,
      state: 'CONTINUE',
      because: 'the results asked for nothing but what is planned',
    });
  });
});

describe('any result under every-result', () => {
  const story = () => Story.of(plan(['a', 'b'], ['a->b']), every).when(completed('a'));

  it.each([MODEL, RUNBOOK])('is shown to a model, also while there is more to do: %j', (judge) => {
    expect(judged(story(), judge)).toEqual(NEEDED);
    expect(judged(Story.of(plan(['a', 'b']), every).when(completed('a')), judge)).toEqual(NEEDED);
    expect(judged(Story.of(plan(['a']), every).when(completed('a')), judge)).toEqual(NEEDED);
  });

  it('changes nothing when there is none', () => {
    expect(judged(story(), NOBODY)).toEqual({
      needed: false,
      state: 'CONTINUE',
      because: 'no model is configured that could judge task "a"',
    });
  });
});

describe('a result that was to be reviewed', () => {
  const story = () => Story.of(plan([star('a', { review: true }), 'b'], ['a->b'])).when(completed('a'));

  it('is shown to a model', () => expect(judged(story(), MODEL)).toEqual(NEEDED));

  it('changes nothing when there is none', () => {
    expect(judged(story(), NOBODY)).toEqual({
      needed: false,
      state: 'CONTINUE',
      because: 'no model is configured that could judge task "a"',
    });
  });
});

describe('a failure', () => {
  const story = () => Story.of(plan(['a', 'b'], ['a->b'])).when(failed('a'));

  it('is shown to a model, of a runbook, too', () => {
    expect(judged(story(), MODEL)).toEqual(NEEDED);
    expect(judged(story(), RUNBOOK)).toEqual(NEEDED);
  });

  it('changes nothing when there is none', () => {
    expect(judged(story(), NOBODY)).toMatchObject({ needed: false, state: 'CONTINUE' });
  });

  it('is none any more when the task is tried again', () => {
    const again = Story.of(plan([star('a', { review: true }), 'b', 'c'])).when(failed('a'));
    const retry = { verb: 'RETRY', taskId: 'a' } as const;
    again.when({ kind: 'verb', id: 'r', by: { kind: 'person', id: 'alice' }, action: retry });
    expect(judged(again, MODEL)).toMatchObject({ needed: false, state: 'CONTINUE' });
  });

  it('that came meanwhile asks for a model, too', () => {
    const both = Story.of(plan(['a', 'b', 'c']), every)
      .when(completed('a'))
      .when(failed('b'));
    expect(both.run.queued).toEqual([{ kind: 'task', taskId: 'b', attempt: 1 }]);
    expect(judged(both, MODEL)).toEqual(NEEDED);
  });

  it('of a task that is no longer there is none', () => {
    const triggers: EditTrigger[] = [{ kind: 'task', taskId: 'gone', attempt: 1 }];
    expect(judgementOf(Story.of(plan(['a'])).run, triggers, MODEL)).toMatchObject({ needed: false });
  });
});

describe('the end of a plan', () => {
  const ended = () => Story.of(plan(['a'])).when(completed('a'));

  it('is a question to the model whose plan it was', () => {
    expect(ended().run.editing?.triggers).toEqual([{ kind: 'end-of-plan' }]);
    expect(judged(ended(), MODEL)).toEqual(NEEDED);
  });

  it('is the end when there is no model', () => {
    expect(judged(ended(), NOBODY)).toEqual({
      needed: false,
      state: 'FINISH',
      because: 'the plan has ended, and no model is configured that could say more',
    });
  });

  it('is the end of a runbook', () => {
    expect(judged(ended(), RUNBOOK)).toEqual({
      needed: false,
      state: 'FINISH',
      because: 'the plan of the runbook has ended',
    });
  });

  it('is there as well when the last result opened the round', () => {
    const last = () => Story.of(plan(['a']), every).when(completed('a'));
    expect(last().run.editing?.triggers).toEqual([{ kind: 'task', taskId: 'a', attempt: 1 }]);
    expect(judged(last(), MODEL)).toEqual(NEEDED);
    expect(judged(last(), NOBODY)).toMatchObject({ needed: false, state: 'FINISH' });
  });

  it('with a failure that is not looked at yet is none for a model that could repair it', () => {
    const broken = () => Story.of(plan(['a'])).when(failed('a'));
    expect(judged(broken(), RUNBOOK)).toEqual(NEEDED);
    expect(judged(broken(), NOBODY)).toMatchObject({ needed: false, state: 'FINISH' });
  });

  it('is none while there is more to look at', () => {
    const story = Story.of(plan(['a', 'b']), every)
      .when(completed('a'))
      .when(completed('b'));
    expect(story.run.queued).toHaveLength(1);
    expect(judged(story, NOBODY)).toEqual({
      needed: false,
      state: 'CONTINUE',
      because: 'there is more to look at first',
    });
  });

  it('is none any more when a person has added a task', () => {
    const story = ended().edits({ tool: 'add_task', task: star('more') });
    expect(judged(story, NOBODY)).toMatchObject({ needed: false, state: 'CONTINUE' });
  });
});

describe('a task that waits for a device', () => {
  const asked = [{ kind: 'device', taskId: 'b' }] as const;
  const waits = (run: Run) =>
    foldEvents(run, [{ type: 'TASKS_WAITING', data: { began: ['b'], over: [], at: '2026-01-01T00:00:00.000Z' } }]);
  const story = () => Story.of(plan(['a', 'b'], ['a->b']), every).when(completed('a'));

  it('is shown to a model, and to nobody when there is none', () => {
    expect(judgementOf(waits(story().run), asked, MODEL)).toEqual(NEEDED);
    expect(judgementOf(waits(story().run), asked, RUNBOOK)).toEqual(NEEDED);
    expect(judgementOf(waits(story().run), asked, NOBODY)).toMatchObject({ needed: false, state: 'CONTINUE' });
  });

  it('asks for nothing when one has come meanwhile', () => {
    const idle = Story.of(plan(['b'])).run;
    expect(judgementOf(idle, asked, MODEL)).toMatchObject({ needed: false, state: 'CONTINUE' });
  });
});

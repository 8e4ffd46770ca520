import { describe, expect, it } from '@jest/globals';
import { QueryRefusedError } from '#libs/messaging';
import { ANY_PROOF } from '#libs/testing';
import { ANNA, AT, JUDGED, ReflectingWorld, RUN } from '../testing/reflecting.js';

const ASKER = { actor: ANNA, proof: ANY_PROOF };
const EVALUATION = {
  reason: 'df says so',
  sub_scores: [{ name: 'disks reported', evaluation: 'yes' }],
  complete: 'yes',
};

describe('the evaluation of a run', () => {
  it('is asked for once and recorded with what it took', async () => {
    const world = new ReflectingWorld([JUDGED]);
    await world.run();
    const { evaluation } = world.process();
    expect(await evaluation.evaluate(RUN)).toBe('stored');
    expect(await evaluation.evaluate(RUN)).toBe('exists');
    expect(await world.process().evaluation.ordered(RUN, ASKER)).toEqual(EVALUATION);
    expect(world.model.requests.map(({ agent }) => agent)).toEqual(['EvaluationAgent']);
    const [run] = await world.runs.load(RUN);
    const [plan, ...more] = await world.plans.load(RUN);
    expect(more).toEqual([]);
    expect(plan?.commit.causes).toEqual([{ kind: 'run', id: run?.commit.commit }]);
    expect(plan?.commit.events).toMatchObject([
      {
        type: 'RUN_EVALUATED',
        data: {
          evaluation: EVALUATION,
          used: { llmCalls: 1, tokens: 110 },
          calls: [{ model: 'scripted' }],
          templates: [{ id: 'planner/judge' }],
        },
      },
    ]);
  });

  it('has a verdict about each task that was tried, and says which could not be done', async () => {
    const subtasks = [{ task_id: 'disk', evaluation: 'yes', reason: 'df printed all of them' }];
    const world = new ReflectingWorld([{ json: { ...EVALUATION, subtasks, feasible: 'no' } }]);
    await world.run({ end: 'failed' });
    const { evaluation } = world.process();
    expect(await evaluation.ordered(RUN, ASKER)).toEqual({ ...EVALUATION, subtasks, feasible: 'no' });
    // Read back from what is recorded.
    expect(await world.process().evaluation.ordered(RUN, ASKER)).toEqual({
      ...EVALUATION,
      subtasks,
      feasible: 'no',
    });
  });

  it('takes no task for done that the model has left out', async () => {
    const world = new ReflectingWorld([{ json: { ...EVALUATION, subtasks: [] } }]);
    await world.run();
    expect((await world.process().evaluation.ordered(RUN, ASKER)).subtasks).toEqual([
      { task_id: 'disk', evaluation: 'unsure', reason: 'the model gave no verdict about it' },
    ]);
  });

  it('is asked for again when it judges a task that there is not, or one twice', async () => {
    const judging = (...ids: string[]) => ({
      json: { ...EVALUATION, subtasks: ids.map((task_id) => ({ task_id, evaluation: 'yes' })) },
    });
    const world = new ReflectingWorld([judging('disks'), judging('disk', 'disk'), judging('disk')]);
    await world.run();
    expect((await world.process().evaluation.ordered(RUN, ASKER)).subtasks).toEqual([
      { task_id: 'disk', evaluation: 'yes' },
    ]);
    const [, second, third] = world.model.requests.map(({ messages }) => JSON.stringify(messages));
    expect(second).toContain('there is no task \\\"disks\\\"; those that were tried are \\\"disk\\\"');
    expect(third).toContain('has a verdict already');
  });

  it.each(['failed', 'partially_failed'] as const)('is made of a run that %s, too', async (end) => {
    const world = new ReflectingWorld([JUDGED]);
    await world.run({ end, goal: null });
    expect(await world.process().evaluation.evaluate(RUN)).toBe('stored');
  });

  it('is refused while the run goes on, and for one that nobody knows', async () => {
    const world = new ReflectingWorld([JUDGED]);
    const { evaluation } = world.process();
    await expect(evaluation.evaluate(RUN)).rejects.toThrow('There is no run run1.');
    await world.run({ end: 'none' });
    await expect(evaluation.evaluate(RUN)).rejects.toThrow(
      'The run run1 has not ended yet; only then it can be judged.',
    );
    expect([world.model.requests.length, await world.types()]).toEqual([0, []]);
  });

  it('is refused without a model, in words that say what to do', async () => {
    const world = new ReflectingWorld();
    await world.run();
    await expect(world.process({ hasModel: false }).evaluation.ordered(RUN, ASKER)).rejects.toThrow(
      'set OPENAI_BASE_URL',
    );
  });

  it('costs one call when two ask at the same time', async () => {
    const world = new ReflectingWorld([JUDGED]);
    await world.run();
    const { evaluation } = world.process();
    const both = await Promise.all([evaluation.evaluate(RUN), evaluation.evaluate(RUN)]);
    expect(both.toSorted()).toEqual(['exists', 'stored']);
    expect(world.model.requests).toHaveLength(1);
  });

  it('is the one of the replica that was faster', async () => {
    const world = new ReflectingWorld([JUDGED, JUDGED]);
    await world.run();
    const both = await Promise.all([1, 2].map(() => world.process().evaluation.evaluate(RUN)));
    expect(both.toSorted()).toEqual(['exists', 'stored']);
    expect(await world.types()).toEqual(['RUN_EVALUATED']);
  });

  it('is made anew of another end, and found again beside what is noted after it', async () => {
    const world = new ReflectingWorld([JUDGED, JUDGED]);
    await world.run();
    const { evaluation } = world.process();
    expect(await evaluation.evaluate(RUN)).toBe('stored');
    const late = {
      kind: 'late_result',
      taskId: 'disk',
      attempt: 1,
      text: 'late',
      attemptHash: 'a'.repeat(64),
    } as const;
    await world.endAgain({ type: 'RUN_ANNOTATED', data: { ...late, annotatedAt: AT } });
    expect(await evaluation.evaluate(RUN)).toBe('stored');
    expect(await world.process().evaluation.evaluate(RUN)).toBe('exists');
    const causes = (await world.plans.load(RUN)).flatMap(({ commit }) => commit.causes.map(({ id }) => id));
    const ends = (await world.runs.load(RUN)).slice(0, 2).map(({ commit }) => commit.commit);
    expect(causes).toEqual(ends);
  });

  it('is asked for again, with what was wrong, when the reply is nonsense', async () => {
    const world = new ReflectingWorld(['It went well, I think.', JUDGED]);
    await world.run();
    expect(await world.process().evaluation.evaluate(RUN)).toBe('stored');
    expect(JSON.stringify(world.model.requests[1]?.messages)).toContain('could not be used');
  });

  it('fails with a sentence when the model says nothing but nonsense, and can be asked for again', async () => {
    const world = new ReflectingWorld(['no', 'no', 'no', 'no', JUDGED]);
    await world.run();
    const { evaluation } = world.process();
    const failed = evaluation.ordered(RUN, ASKER);
    await expect(failed).rejects.toThrow(QueryRefusedError);
    await expect(failed).rejects.toThrow('The run could not be judged: No usable reply in 4 tries');
    expect(await world.types()).toEqual([]);
    expect(await evaluation.evaluate(RUN)).toBe('stored');
  });

  it('is not paid for twice when the log was away at the wrong moment', async () => {
    const world = new ReflectingWorld([JUDGED]);
    await world.run();
    const { evaluation } = world.process();
    world.plans.faults.push('lost-unknown');
    await expect(evaluation.evaluate(RUN)).rejects.toThrow('did not answer');
    expect(await evaluation.evaluate(RUN)).toBe('stored');
    expect([world.model.requests.length, await world.types()]).toEqual([1, ['RUN_EVALUATED']]);
  });

  it('is made with another boundary when the first one stands in some text', async () => {
    const world = new ReflectingWorld([JUDGED]);
    world.boundariesTaken = 2;
    await world.run();
    expect(await world.process().evaluation.evaluate(RUN)).toBe('stored');
    expect(world.boundaries).toHaveLength(3);
  });
});

import { describe, expect, it } from '@jest/globals';
import type { Scripted } from '#libs/llm';
import { PlannerWorld, type PlannerOptions } from '../testing/planner-world.js';
import { addStar, addTask, edit, plan, task } from '../testing/replies.js';

const DONE = { kind: 'done' };

/** A run whose task has failed: a round of editing is open, and `opened` is the commit that asks for its first try. */
async function failing(replies: readonly Scripted[], first = plan([task('a'), task('z')])) {
  const world = new PlannerWorld([first, ...replies]);
  await world.planner().handle(await world.submit());
  await world.judge();
  return { world, opened: await world.fail('a') };
}

/** Something happens while the model thinks for the n-th time. */
function meanwhile(n: number, happens: () => Promise<unknown>): PlannerOptions {
  let asked = 0;
  return {
    after: async (call) => {
      if (call === 'model' && ++asked === n) await happens();
    },
  };
}

describe('a constellation that moves while the model thinks', () => {
  it('gets the plan for what it is then, without another question', async () => {
    const { world, opened } = await failing([edit([addTask('again')])]);
    const planner = world.planner(meanwhile(1, () => world.propose(addStar('mine'))));
    expect(await planner.handle(opened)).toEqual(DONE);
    expect(world.model.requests).toHaveLength(2);
    const [, recorded] = await world.factsOf('ROUND_PLANNED');
    // What the model was shown; the proposal is for what is there now.
    expect(recorded?.revision).toBe(1);
    expect((await world.factsOf('PLAN_PROPOSED'))[1]?.proposal.baseRevision).toBe(2);
    await world.judge();
    expect((await world.run()).editing).toBeNull();
  });

  it('is asked about once more when the plan does not fit any more, and both questions are recorded', async () => {
    const { world, opened } = await failing([edit([addTask('mine')]), edit([addTask('other')])]);
    const planner = world.planner(meanwhile(1, () => world.propose(addStar('mine'))));
    expect(await planner.handle(opened)).toEqual(DONE);
    expect(planner.views).toHaveLength(2);
    expect(planner.views[1]).toMatchObject({
      violations: [{ message: expect.stringContaining('already') }],
      tried: { actions: [{ tool: 'add_task' }] },
    });
    const [, recorded] = await world.factsOf('ROUND_PLANNED');
    expect(recorded?.calls).toHaveLength(2);
    expect((await world.factsOf('PLAN_PROPOSED'))[1]?.used.llmCalls).toBe(2);
    await world.judge();
    expect((await world.run()).editing).toBeNull();
  });
});

describe('a proposal that came too late for its revision', () => {
  it('is made again of the same reply, and no model is asked', async () => {
    const { world, opened } = await failing([edit([addTask('again')])]);
    await world.planner().handle(opened);
    await world.propose(addStar('mine'));
    const refused = await world.judge();
    expect(refused.events.map(({ type }) => type)).toContain('EDIT_REJECTED');
    expect(await world.planner().handle(refused)).toEqual(DONE);
    expect(world.model.requests).toHaveLength(2);
    const proposed = (await world.factsOf('PLAN_PROPOSED')).at(-1);
    expect(proposed).toMatchObject({ source: 'model', used: { llmCalls: 0 }, proposal: { try: 2, baseRevision: 2 } });
    await world.judge();
    expect((await world.run()).editing).toBeNull();
  });

  it('is made again as often as it comes too late', async () => {
    const { world, opened } = await failing([edit([addTask('again')])]);
    await world.planner().handle(opened);
    for (const id of ['mine', 'mine2', 'mine3']) {
      await world.propose(addStar(id));
      await world.planner().handle(await world.judge());
    }
    expect(world.model.requests).toHaveLength(2);
    expect((await world.factsOf('ROUND_PLANNED')).map(({ revision }) => revision)).toEqual([0, 1, 1, 1, 1]);
    await world.judge();
    expect((await world.run()).editing).toBeNull();
  });

  it('is thought about anew when the reply does not fit any more', async () => {
    const { world, opened } = await failing([edit([addTask('mine')]), edit([addTask('other')])]);
    await world.planner().handle(opened);
    await world.propose(addStar('mine'));
    const planner = world.planner();
    await planner.handle(await world.judge());
    expect(planner.views).toMatchObject([{ tried: { actions: [{ tool: 'add_task' }] } }]);
    await world.judge();
    expect((await world.run()).editing).toBeNull();
  });
});

describe('two replicas that think about the same try', () => {
  it('store one reply: who comes second finds it there', async () => {
    const { world, opened } = await failing([edit([addTask('again')]), edit([addTask('other')])]);
    const other = world.planner({ instance: 'i2' });
    const first = world.planner({
      ...meanwhile(1, () => other.handle(opened, 2)),
      instance: 'i1',
    });
    expect(await first.handle(opened)).toEqual(DONE);
    expect((await world.factsOf('PLAN_PROPOSED')).map(({ proposal }) => [proposal.editId, proposal.try])).toEqual([
      ['e1', 1],
      ['e2', 1],
    ]);
    // It has paid for what nobody needs.
    expect(first.records).toMatchObject([{ outcome: 'over', used: { llmCalls: 1 } }]);
    expect(other.records).toMatchObject([{ outcome: 'proposed' }]);
  });
});

describe('one replica that gets the same try twice at once', () => {
  it('asks once', async () => {
    const { world, opened } = await failing([edit([addTask('again')]), edit([addTask('other')])]);
    const planner = world.planner();
    expect(await Promise.all([planner.handle(opened), planner.handle(opened, 2)])).toEqual([DONE, DONE]);
    expect(world.model.requests).toHaveLength(2);
    expect(planner.live.size).toBe(0);
  });
});

describe('a reply that the log would not take', () => {
  it.each(['stored-unknown', 'lost-unknown'] as const)('(%s) is not asked for again', async (fault) => {
    const { world, opened } = await failing([edit([addTask('again')])]);
    const planner = world.planner();
    world.plans.faults.push(fault);
    await expect(planner.handle(opened)).rejects.toThrow('did not answer');
    expect(await planner.handle(opened, 2)).toEqual(DONE);
    expect(world.model.requests).toHaveLength(2);
    expect(await world.factsOf('ROUND_PLANNED')).toHaveLength(2);
    await world.judge();
    expect((await world.run()).editing).toBeNull();
  });
});

describe('a reply that the log would not take, and that does not fit any more', () => {
  it('is counted with the one that is asked for then', async () => {
    const { world, opened } = await failing([edit([addTask('mine')]), edit([addTask('other')])]);
    const planner = world.planner();
    world.plans.faults.push('lost-unknown');
    await expect(planner.handle(opened)).rejects.toThrow('did not answer');
    await world.propose(addStar('mine'));
    expect(await planner.handle(opened, 2)).toEqual(DONE);
    expect((await world.factsOf('PLAN_PROPOSED'))[1]?.used.llmCalls).toBe(2);
    expect((await world.factsOf('ROUND_PLANNED'))[1]?.calls).toHaveLength(2);
  });
});

describe('the budget of a round', () => {
  it('ends the questions when it is used up, and what was asked is recorded', async () => {
    const world = new PlannerWorld(['garbage', 'garbage', 'garbage', plan([task('a')])]);
    await world.planner().handle(await world.submit('look', { budget: { llmCalls: 2 } }));
    const [why] = await world.factsOf('ROUND_FAILED');
    expect(why).toMatchObject({ error: { code: 'BUDGET_EXHAUSTED' }, used: { llmCalls: 2 } });
    expect(why?.calls).toHaveLength(2);
    await world.judge();
    expect(await world.run()).toMatchObject({ phase: 'FAILED', used: { llmCalls: 2 } });
  });

  it('counts what earlier tries of the round have used', async () => {
    const first = plan([task('a')]);
    const world = new PlannerWorld([first, edit([addTask('b')]), edit([addTask('c')])]);
    await world.planner().handle(await world.submit('look', { budget: { llmCalls: 2 } }));
    await world.judge();
    await world.planner().handle(await world.fail('a'));
    world.devices();
    const planner = world.planner();
    await planner.handle(await world.judge());
    expect((await world.factsOf('ROUND_FAILED')).at(-1)).toMatchObject({
      error: { code: 'BUDGET_EXHAUSTED' },
      used: { llmCalls: 0 },
    });
    expect(world.model.requests).toHaveLength(2);
  });

  it('is told to the model', async () => {
    const world = new PlannerWorld([plan([task('a')])]);
    const planner = world.planner();
    await planner.handle(await world.submit('look', { budget: { llmCalls: 5, tokens: 9_000 } }));
    expect(planner.views[0]).toMatchObject({ budgetLeft: { llmCalls: 5, tokens: 9_000 } });
  });
});

import { describe, expect, it } from '@jest/globals';
import { budgetOf, orderOf, usedInRound } from './order.js';
import { PlannerWorld, profileOf } from '../testing/planner-world.js';
import { addTask, edit, plan, task } from '../testing/replies.js';

describe('what a commit asks for', () => {
  it('is the first try of the round that it opens, and the next one of the round that it refuses', async () => {
    const world = new PlannerWorld([plan([task('a')]), edit([addTask('b')])]);
    const opened = await world.submit();
    expect(orderOf(opened)).toEqual({ runId: 'run1', editId: 'e1', try: 1, commit: opened.commit });
    await world.planner().handle(opened);
    expect(orderOf(await world.judge())).toBeUndefined();
    const failed = await world.fail('a');
    expect(orderOf(failed)).toMatchObject({ editId: 'e2', try: 1 });
    await world.planner().handle(failed);
    world.devices(profileOf('db-1'));
    expect(orderOf(await world.judge())).toMatchObject({ editId: 'e2', try: 2 });
  });
});

describe('the bounds of a round', () => {
  it('are those it was opened with, and what its tries have used is counted against them', async () => {
    const world = new PlannerWorld(['garbage', plan([task('a')])]);
    await world.planner().handle(await world.submit('look', { budget: { llmCalls: 7 } }));
    const runs = (await world.runs.load('run1')).map(({ commit }) => commit);
    const plans = (await world.plans.load('run1')).map(({ commit }) => commit);
    expect(budgetOf(runs, 'e1')).toEqual({ llmCalls: 7 });
    expect(budgetOf(runs, 'e9')).toBeUndefined();
    expect(usedInRound(plans, 'e1')).toMatchObject({ llmCalls: 2, tokens: 220 });
    expect(usedInRound(plans, 'e9')).toMatchObject({ llmCalls: 0 });
  });
});

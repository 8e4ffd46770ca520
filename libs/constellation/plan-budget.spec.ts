import { describe, expect, it } from '@jest/globals';
import type { Budget, RunOptions, TaskConstellation } from '#proto';
import {
  add,
  ask,
  build,
  completed,
  constellation,
  device,
  failed,
  fleet,
  giveUp,
  imagine,
  propose,
  Story,
  submit,
  verb,
  WAKE,
  withAgents,
} from './testing/given.js';
import { checkBudget, checkInvariants } from './fold/invariants.js';
import { viewOf } from './views/view.js';

const FLEET = withAgents(fleet([device('web-1'), device('db-1')]));
const MINUTE = 60_000;
const RUNBOOK = { source: 'runbook' } as const;

/** A task that the agent of a device does. */
const agent = (id: string) => ({ id, command: undefined as never });
const agents = (ids: readonly string[], lines: readonly string[] = []): TaskConstellation =>
  constellation(ids.map(agent), lines);

const story = () => new Story().on(FLEET);
const asking = (budget: Budget, change: RunOptions = {}) =>
  story().when(ask({ options: { editPolicy: 'every-result', editDeadlineMs: MINUTE, ...change, budget } }));
const budgetOf = (told: Story) => told.events.findLast(({ type }) => type === 'EDIT_OPENED')?.data;
const answered = (taskId: string, llmCalls: number, attempt = 1) => {
  const input = completed(taskId, attempt);
  if (input.kind !== 'attempt-ended') throw new Error('not an end');
  return { ...input, finished: { ...input.finished, used: { llmCalls, tokens: 0, commands: 0, costUsd: 0 } } };
};

describe('the budget of a round', () => {
  it('is all that is left when the plan is made, and its use counts', () => {
    const told = asking({ llmCalls: 10, tokens: 1_000, costUsd: 0.5, commands: 7 });
    expect(budgetOf(told)).toMatchObject({ budget: { llmCalls: 10, tokens: 1_000, costUsd: 0.5 } });
    expect(budgetOf(told)).not.toHaveProperty('budget.commands');
    expect(told.run.granted).toEqual({ llmCalls: 10, tokens: 1_000, commands: 0, costUsd: 0.5 });
    told.when(imagine('e1', [build(constellation(['a']))], {}, { llmCalls: 2, tokens: 300, costUsd: 0.1 }));
    expect(told.events.findLast(({ type }) => type === 'CONSTELLATION_MODIFIED')?.data).toMatchObject({
      used: { llmCalls: 2, tokens: 300, commands: 0, costUsd: 0.1 },
    });
    expect(told.run.used).toEqual({ llmCalls: 2, tokens: 300, commands: 0, costUsd: 0.1 });
    expect(told.run.granted).toEqual({ llmCalls: 0, tokens: 0, commands: 1, costUsd: 0 });
    expect(checkInvariants(told.run)).toEqual([]);
  });

  it('is not there when nothing that a planner needs is bounded', () => {
    expect(budgetOf(asking({ commands: 3 }))).not.toHaveProperty('budget');
    const free = story().when(ask());
    expect(budgetOf(free)).not.toHaveProperty('budget');
    expect(free.run.editing?.budget).toBeNull();
  });

  it.each([
    { left: { llmCalls: 9 }, half: { llmCalls: 4 } },
    { left: { llmCalls: 1 }, half: { llmCalls: 1 } },
    { left: { costUsd: 1 }, half: { costUsd: 0.5 } },
  ])('is at most half of $left while agents have still to start', ({ left, half }) => {
    const waiting = asking(left, { lockPolicy: 'strict' });
    waiting.when(imagine('e1', [build(constellation(['a', agent('b')], ['a->b']))])).when(completed('a'));
    expect(budgetOf(waiting)).toMatchObject({ editId: 'e2', budget: half });
  });

  it('is smaller by what a refused try has used', () => {
    const told = asking({ llmCalls: 5 });
    told.when(imagine('e1', [{ tool: 'remove_task', taskId: 'x' }], {}, { llmCalls: 2 }));
    expect(told.last?.events[0]).toMatchObject({ type: 'EDIT_REJECTED', data: { used: { llmCalls: 2 } } });
    expect(told.run.used.llmCalls).toBe(2);
    expect(told.run.granted.llmCalls).toBe(3);
    expect(told.run.editing?.budget).toEqual({ llmCalls: 3 });
    told.when(imagine('e1', [build(constellation(['a']))], { try: 2 }, { llmCalls: 1 }));
    expect([told.run.used.llmCalls, told.run.granted.llmCalls]).toEqual([3, 0]);
  });

  it('is given back as nothing when more was used than it was', () => {
    const told = asking({ llmCalls: 2 });
    told.when(imagine('e1', [{ tool: 'remove_task', taskId: 'x' }], {}, { llmCalls: 5 }));
    expect(told.run.editing?.budget).toEqual({ llmCalls: 0 });
    expect([told.run.used.llmCalls, told.run.granted.llmCalls]).toEqual([5, 0]);
    expect(checkInvariants(told.run)).toEqual([]);
  });

  it('is given back by a round that comes to nothing, but for what was used', () => {
    const told = asking({ llmCalls: 5 }).when(imagine('e1', [build(constellation(['a', 'b'], ['a->b']))]));
    told
      .when(completed('a'))
      .when(giveUp('e2', 'the model is away', { used: { llmCalls: 1, tokens: 0, commands: 0, costUsd: 0 } }));
    expect(told.told).toEqual(['EDIT_ABANDONED e2 PLANNER_FAILED', 'TASK_STARTED b 1 on web-1 judged']);
    expect([told.run.used.llmCalls, told.run.granted.llmCalls]).toEqual([1, 0]);
    told.when(completed('b'));
    expect(budgetOf(told)).toMatchObject({ budget: { llmCalls: 4 } });
    told.at(2 * MINUTE).when(WAKE);
    expect([told.run.used.llmCalls, told.run.granted.llmCalls]).toEqual([1, 0]);
  });

  it('is never more than what is left, which the check of the invariants would notice', () => {
    const told = asking({ llmCalls: 5 });
    const before = { ...told.run, editing: null, granted: { ...told.run.granted, llmCalls: 1 } };
    const opened = told.events.find(({ type }) => type === 'EDIT_OPENED');
    if (opened === undefined) throw new Error('no round');
    const after = { ...told.run, granted: { ...told.run.granted, llmCalls: 6 } };
    expect(checkBudget(before, opened, after)).toMatchObject([{ invariant: 'I11_BUDGET', tasks: [] }]);
    expect(checkInvariants(after)).toMatchObject([{ invariant: 'I11_BUDGET' }]);
  });
});

describe('a budget of nothing', () => {
  const NOTHING = [{ llmCalls: 0 }, { tokens: 0 }, { costUsd: 0 }, { llmCalls: 0, tokens: 0, costUsd: 0 }];

  it.each(NOTHING)('is what a first plan is asked for with: %j', (budget) => {
    const told = asking(budget);
    expect(told.told).toEqual(['RUN_REQUESTED', 'EDIT_OPENED e1 goal scoped']);
    expect(budgetOf(told)).toMatchObject({ budget });
    expect(checkInvariants(told.run)).toEqual([]);
  });

  it.each(NOTHING)('is enough for a plan that needs no model, to its end: %j', (budget) => {
    const told = asking(budget).when(propose('e1', [build(constellation(['a', 'b'], ['a->b']))], {}, RUNBOOK));
    expect(told.told).toEqual(['CONSTELLATION_MODIFIED e1 revision 1', 'TASK_STARTED a 1 on web-1']);
    expect(told.when(completed('a')).told).toEqual(['TASK_COMPLETED a 1', 'TASK_STARTED b 1 on web-1']);
    expect(told.when(completed('b')).told).toEqual(['TASK_COMPLETED b 1', 'RUN_COMPLETED succeeded']);
    expect(viewOf(told.run).answer).toMatchObject({ by: 'collected', evidence: [{ taskId: 'a' }, { taskId: 'b' }] });
  });

  it('does what needs no model, and then ends a plan of which only tasks of agents are left', () => {
    const told = asking({ llmCalls: 0 });
    told.when(propose('e1', [build(constellation(['a', 'b', agent('c')], ['a->b', 'a->c']))], {}, RUNBOOK));
    expect(told.when(completed('a')).told).toEqual(['TASK_COMPLETED a 1', 'TASK_STARTED b 1 on web-1']);
    expect(told.when(completed('b')).told.slice(1)).toEqual([
      'TASK_CANCELLED c 0 budget',
      'RUN_FAILED BUDGET_EXHAUSTED',
    ]);
  });

  it('fails a goal that nobody can plan without a model, with the reason', () => {
    const told = asking({ llmCalls: 0 });
    const error = { code: 'BUDGET_EXHAUSTED', message: 'no model calls are left of the budget: 0 of 0 are used' };
    expect(told.when(giveUp('e1', error.message, { error })).told).toEqual([
      'EDIT_ABANDONED e1 PLANNER_FAILED',
      'RUN_FAILED BUDGET_EXHAUSTED',
    ]);
    expect(viewOf(told.run).reason).toBe(error.message);
  });

  it('is not what an edit is asked for with: a failure ends what hangs from it, as nobody could say anything else', () => {
    const told = asking({ llmCalls: 0 }, { lockPolicy: 'strict' });
    told.when(propose('e1', [build(constellation(['a', 'b', 'c'], ['a=>b', 'a->c']))], {}, RUNBOOK));
    expect(told.when(failed('a')).told).toEqual([
      'TASK_FAILED a 1 EXIT_CODE failed',
      'TASK_SKIPPED b by failure',
      'TASK_STARTED c 1 on web-1',
    ]);
  });
});

describe('a budget that is gone', () => {
  it('opens no round any more: nothing is held, and the end of the plan is not asked about', () => {
    const told = asking({ llmCalls: 2 }, { lockPolicy: 'strict' });
    told.when(imagine('e1', [build(constellation(['a', 'b'], ['a->b']))], {}, { llmCalls: 2 }));
    expect(told.when(completed('a')).told).toEqual(['TASK_COMPLETED a 1', 'TASK_STARTED b 1 on web-1 judged']);
    expect(told.when(failed('b')).told).toEqual(['TASK_FAILED b 1 EXIT_CODE failed', 'RUN_COMPLETED partially_failed']);
  });

  it('lets a round wait while all that is left is given out, and hold what it will be about', () => {
    const told = asking({ llmCalls: 4 }, { lockPolicy: 'scoped' });
    told.when(imagine('e1', [build(constellation(['a', 'b', agent('c')], ['a->b']))]));
    expect(told.run.granted.llmCalls).toBe(4);
    told.when(completed('a'));
    expect(told.told).toEqual(['TASK_COMPLETED a 1']);
    expect(viewOf(told.run).tasks.find(({ id }) => id === 'b')?.held).toBe(true);
    expect(viewOf(told.run).waitingFor).toMatchObject({ reason: 'running_tasks', wokenBy: 'attempt' });
    told.when(answered('c', 1));
    expect(told.told).toEqual(['TASK_COMPLETED c 1', 'EDIT_OPENED e2 a.1 c.1 scoped']);
    expect(budgetOf(told)).toMatchObject({ budget: { llmCalls: 3 } });
  });

  it('opens no round when those who had all of it have used it up', () => {
    const told = asking({ llmCalls: 4 }).when(imagine('e1', [build(agents(['a', 'b'], ['a->b']))]));
    told.when(answered('a', 4));
    expect(told.told).toEqual(['TASK_COMPLETED a 1', 'TASK_CANCELLED b 0 budget', 'RUN_FAILED BUDGET_EXHAUSTED']);
  });

  it('lets an agent wait for what the planner gives back, and says so', () => {
    const told = story().when(
      submit(constellation(['a']), {
        options: { editPolicy: 'when-needed', lockPolicy: 'scoped', budget: { llmCalls: 3 } },
      }),
    );
    told.when(completed('a'));
    expect(told.told.at(-1)).toBe('EDIT_OPENED e1 end-of-plan scoped');
    told.when(propose(null, [{ tool: 'add_task', task: agents(['n']).tasks[0] }]));
    expect(told.status('n')).toBe('PENDING');
    expect(viewOf(told.run).waitingFor).toMatchObject({ reason: 'planner', wokenBy: 'proposal' });
    expect(told.when(propose('e1', [])).told.at(-1)).toBe('TASK_STARTED n 1 on web-1');
  });

  it('does not keep a person from trying something again while the planner thinks', () => {
    const told = asking({ llmCalls: 3 }).when(imagine('e1', [build(agents(['a']))]));
    told.when(failed('a'));
    expect(told.run.editing?.editId).toBe('e2');
    told.when(verb({ verb: 'RETRY', taskId: 'a' }));
    expect(told.answers.at(-1)).toEqual({ kind: 'accepted' });
    expect(told.when(propose('e2', [add.task('z')])).told).toContain('TASK_STARTED a 2 on web-1 judged');
  });
});

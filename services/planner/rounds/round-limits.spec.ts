import { describe, expect, it } from '@jest/globals';
import { parseRunbook } from '#libs/planner';
import { PlannerWorld } from '../testing/planner-world.js';
import { edit, plan, task } from '../testing/replies.js';

const DONE = { kind: 'done' };
const parsed = parseRunbook(
  {
    name: 'look',
    title: 'Look',
    description: 'looks at a machine',
    parameters: [{ name: 'device', description: 'where', required: true, type: 'device' }],
    constellation: {
      tasks: [
        {
          task_id: 'look',
          name: 'Look',
          target_device_id: '{{ p.device }}',
          command: { tool: 'EXEC_CLI', arguments: { command: 'uptime' } },
        },
      ],
      dependencies: [],
    },
  },
  'b'.repeat(64),
  'shipped',
);
if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues));
const runbooks = [parsed.runbook];

describe('a goal that no model may plan', () => {
  it.each([{ rounds: 0 }, { budget: { llmCalls: 0 } }, { budget: { tokens: 0 } }, { budget: { costUsd: 0 } }])(
    'is served by the runbook that fits, to its end: %j',
    async (options) => {
      const world = new PlannerWorld([]);
      expect(await world.planner({ runbooks }).handle(await world.submit('look device=web-1', options))).toEqual(DONE);
      await world.judge();
      const ended = await world.complete('look');
      if ((await world.run()).editing !== null) {
        expect(await world.planner({ runbooks }).handle(ended)).toEqual(DONE);
        await world.judge();
      }
      expect(await world.run()).toMatchObject({
        phase: 'COMPLETED',
        outcome: 'succeeded',
        answer: { by: 'collected' },
      });
      expect(world.model.requests).toEqual([]);
    },
  );

  it.each([
    { options: { budget: { llmCalls: 0 } }, code: 'BUDGET_EXHAUSTED', ends: 'BUDGET_EXHAUSTED' },
    { options: { budget: { tokens: 0 } }, code: 'BUDGET_EXHAUSTED', ends: 'BUDGET_EXHAUSTED' },
    { options: { rounds: 0 }, code: 'TOO_MANY_ROUNDS', ends: 'PLAN_FAILED' },
  ])('fails where none fits, with the reason, and nobody is asked: $options', async ({ options, code, ends }) => {
    const world = new PlannerWorld([]);
    expect(await world.planner({ runbooks }).handle(await world.submit('look after the disks', options))).toEqual(DONE);
    expect(await world.factsOf('ROUND_FAILED')).toMatchObject([{ error: { code }, calls: [], used: { llmCalls: 0 } }]);
    const { events } = await world.judge();
    expect(events.at(-1)).toMatchObject({ type: 'RUN_FAILED', data: { reason: { code: ends } } });
    expect(world.model.requests).toEqual([]);
  });
});

describe('a run whose model was asked as often as it may be', () => {
  it('goes on and ends without it', async () => {
    const world = new PlannerWorld([plan([task('a'), task('b')]), edit([])]);
    const planner = world.planner();
    expect(await planner.handle(await world.submit('look after the disks', { rounds: 1 }))).toEqual(DONE);
    await world.judge();
    expect(await planner.handle(await world.fail('a'))).toEqual(DONE);
    const given = await world.judge();
    expect(given.events).toMatchObject([{ type: 'EDIT_ABANDONED', data: { reason: { code: 'TOO_MANY_ROUNDS' } } }]);
    const { events } = await world.complete('b');
    expect(events.map(({ type }) => type)).toEqual(['TASK_COMPLETED', 'RUN_COMPLETED']);
    expect(world.model.requests).toHaveLength(1);
  });
});

import { describe, expect, it } from '@jest/globals';
import type { RunCommit, RunOptions } from '#proto';
import { QueryRefusedError } from '#libs/messaging';
import type { Evaluations } from './rounds.consumer.js';
import { messageOf, PlannerWorld, RUN_ID } from '../testing/planner-world.js';
import { finish, plan, task } from '../testing/replies.js';

const DONE = { kind: 'done' };

/** A run that ends, and the commit that says so. */
async function ended(options: RunOptions = {}): Promise<{ world: PlannerWorld; end: RunCommit }> {
  const world = new PlannerWorld([plan([task('a')]), finish('Half full.', ['a'])]);
  await world.planner().handle(await world.submit('look', options));
  await world.judge();
  await world.planner().handle(await world.complete('a'));
  return { world, end: await world.judge() };
}

function judges(answer: () => Promise<'stored' | 'exists' | 'failed'> = async () => 'stored') {
  const judged: string[] = [];
  const evaluations: Evaluations = {
    evaluate: (runId) => {
      judged.push(runId);
      return answer();
    },
  };
  return { judged, evaluations };
}

describe('a run that has ended', () => {
  it.each([
    ['asks for it', { evaluate: true }, false, 1],
    ['has a goal, and every goal is judged', {}, true, 1],
    ['wants nothing', {}, false, 0],
  ] as const)('is judged when it %s', async (_, options, evaluateAll, times) => {
    const { world, end } = await ended(options);
    const { judged, evaluations } = judges();
    expect(await world.planner({ evaluations, evaluateAll }).handle(end)).toEqual(DONE);
    expect(judged).toEqual(Array.from({ length: times }, () => RUN_ID));
  });

  it('is judged later when nobody can say now, and never when it is open again', async () => {
    const { world, end } = await ended({ evaluate: true });
    const away = judges(() => Promise.reject(new Error('the log is away')));
    await expect(world.planner({ evaluations: away.evaluations }).handle(end)).rejects.toThrow('away');
    const refusal = { code: 'INVALID_STATE', message: 'it has not ended', issues: [] } as const;
    const open = judges(() => Promise.reject(new QueryRefusedError({ ...refusal, issues: [] })));
    expect(await world.planner({ evaluations: open.evaluations }).handle(end)).toEqual(DONE);
  });

  it('is left to another replica when this one stops', async () => {
    const { world, end } = await ended({ evaluate: true });
    const planner = world.planner({ evaluations: judges(async () => 'failed').evaluations });
    planner.live.end();
    expect(await planner.handle(end)).toMatchObject({ kind: 'retry', delayMs: 0 });
  });

  it('is judged beside what is to be planned when it is opened again meanwhile', async () => {
    const world = new PlannerWorld([plan([task('a')]), finish('Nothing came of it.'), finish('Nothing again.')]);
    await world.planner().handle(await world.submit('look', { evaluate: true }));
    await world.judge();
    await world.planner().handle(await world.fail('a'));
    const end = await world.judge();
    const { promise: judging, resolve: judged } = Promise.withResolvers<'stored'>();
    const planner = world.planner({ evaluations: judges(() => judging).evaluations });
    const evaluated = planner.handle(end);
    const opened = await world.reopen('a');
    expect(await planner.handle(opened)).toEqual(DONE);
    expect(await world.types()).toHaveLength(3);
    judged('stored');
    expect(await evaluated).toEqual(DONE);
  });

  it('is nothing to a planner that has no model', async () => {
    const { world, end } = await ended({ evaluate: true });
    expect(await world.planner({ evaluations: null }).handle(end)).toEqual(DONE);
  });
});

describe('a message', () => {
  it('that opens no round and ends no run is done without being read', async () => {
    const { world } = await ended();
    const message = { ...messageOf(await world.submitted()), data: new Uint8Array(), header: () => 'TASK_STARTED' };
    expect(await world.planner().rounds.handle(message)).toEqual(DONE);
  });

  it.each([
    ['no JSON', '{'],
    ['no commit', '{}'],
  ])('that is %s is poison', async (_, text) => {
    const { world, end } = await ended();
    const data = new TextEncoder().encode(text);
    expect(await world.planner().rounds.handle({ ...messageOf(end), data })).toMatchObject({ kind: 'poison' });
  });

  it('of another run than its subject says is poison', async () => {
    const { world, end } = await ended();
    const { subject } = messageOf({ ...end, runId: 'other' });
    expect(await world.planner().rounds.handle({ ...messageOf(end), subject })).toMatchObject({
      kind: 'poison',
      reason: 'it belongs to another run than other',
    });
  });
});

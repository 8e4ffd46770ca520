import { describe, expect, it } from '@jest/globals';
import type { RunEventData } from '#proto';
import { PlannerWorld } from '../testing/planner-world.js';
import { addTask, edit, finish, plan, task } from '../testing/replies.js';

const VERIFY = { command: { tool: 'EXEC_CLI', arguments: { command: 'test -s /srv/report' } } };
const DONE = finish('The report is there, by another way.', ['again']);

/** A model whose task `a` fails, and which puts `again` in its place; `again` delivers, and the model ends. */
async function replaced(
  failing: Parameters<typeof task>[1],
  replacement: Parameters<typeof task>[1],
): Promise<PlannerWorld> {
  const world = new PlannerWorld([
    plan([task('a', failing)]),
    edit([addTask('again', { replaces: ['a'], ...replacement })]),
    DONE,
  ]);
  await world.planner().handle(await world.submit());
  await world.judge();
  await world.planner().handle(await world.fail('a'));
  await world.judge();
  await world.planner().handle(await world.complete('again'));
  await world.judge();
  return world;
}

async function endOf(world: PlannerWorld): Promise<RunEventData<'RUN_COMPLETED'> | undefined> {
  const events = (await world.runs.load(world.runId)).flatMap(({ commit }) => commit.events);
  return events.flatMap((event) => (event.type === 'RUN_COMPLETED' ? [event.data] : [])).at(-1);
}

/** How the replacement was started: what the device has to check before it counts as done. */
async function startedWith(world: PlannerWorld): Promise<unknown> {
  const run = await world.run();
  return [...run.tasks].find(({ star }) => star.id === 'again')?.star.verify;
}

describe('what a model puts in the place of a failed task', () => {
  it('is held to the check of that task although the model does not say so, and the run has succeeded', async () => {
    const world = await replaced({ verify: VERIFY }, {});
    expect(await startedWith(world)).toEqual(VERIFY);
    expect(await endOf(world)).toMatchObject({
      outcome: 'succeeded',
      answer: { text: 'The report is there, by another way.', failures: [{ taskId: 'a', recoveredBy: 'again' }] },
    });
  });

  it('has failed in part where there was no check: nothing says that it is the same work', async () => {
    const world = await replaced({}, {});
    expect(await startedWith(world)).toBeUndefined();
    expect(await endOf(world)).toMatchObject({ outcome: 'partially_failed', answer: { failures: [{ taskId: 'a' }] } });
  });

  it('may not have another check: the model is told, and what it says next is taken', async () => {
    const easier = { command: { tool: 'EXEC_CLI', arguments: JSON.stringify({ command: 'true' }) } };
    const world = new PlannerWorld([
      plan([task('a', { verify: VERIFY })]),
      edit([addTask('again', { replaces: ['a'], verify: easier })]),
      edit([addTask('again', { replaces: ['a'] })]),
    ]);
    await world.planner().handle(await world.submit());
    await world.judge();
    await world.planner().handle(await world.fail('a'));
    expect(JSON.stringify(world.model.requests[2]?.messages)).toContain('verify');
    await world.judge();
    expect(await startedWith(world)).toEqual(VERIFY);
  });

  it('that does not deliver leaves the run failed in part, whatever the model says of it', async () => {
    const world = new PlannerWorld([
      plan([task('a', { verify: VERIFY }), task('b')]),
      edit([addTask('again', { replaces: ['a'] })]),
      finish('All is well.', ['b']),
    ]);
    await world.planner().handle(await world.submit());
    await world.judge();
    await world.complete('b');
    const opened = await world.fail('a');
    await world.planner().handle(opened);
    await world.judge();
    await world.planner().handle(await world.fail('again'));
    await world.judge();
    expect(await endOf(world)).toMatchObject({ outcome: 'partially_failed' });
  });
});

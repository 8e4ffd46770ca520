import { describe, expect, it } from '@jest/globals';
import { ANY_PROOF } from '#libs/testing';
import type { Actor } from '#proto';
import { ANNA, AT, DEMONSTRATION, example, ReflectingWorld, RUN } from '../testing/reflecting.js';

const TOKEN = '9f86d081884c7d659a2f';
const WORD = 'a_long_word_of_results_42';
const BERT = { kind: 'person', id: 'bert' } as const;
const asker = (actor: Actor) => ({ actor, proof: ANY_PROOF });
const cyclic = {
  tasks: ['a', 'b'].map((id) => ({ task_id: id, name: id, description: '', target: { os: 'linux' } })),
  dependencies: [
    { dependency_id: 'ab', from_task_id: 'a', to_task_id: 'b' },
    { dependency_id: 'ba', from_task_id: 'b', to_task_id: 'a' },
  ],
};

describe('learning from a run', () => {
  it('records the example with the run, and keeps it where it is found', async () => {
    const world = new ReflectingWorld([example()]);
    await world.run();
    const learnt = await world.process().learning.learn(RUN, asker(ANNA));
    expect(learnt).toMatchObject({ id: RUN, kind: 'experience', request: 'Report the disks', tips: ['df -P'] });
    expect(learnt).toMatchObject({ source: RUN, learntBy: 'anna', learntAt: AT });
    const [plan] = await world.plans.load(RUN);
    expect(plan?.commit.causes).toEqual([{ kind: 'verb', id: 'learn.anna', proof: ANY_PROOF }]);
    const { request, tips, constellation } = learnt;
    expect(plan?.commit.events).toMatchObject([
      { type: 'RUN_SUMMARISED', data: { exampleId: RUN, example: { request, tips, constellation }, calls: [{}] } },
    ]);
    expect(await world.process().learning.experiences({ text: 'disks' })).toEqual([learnt]);
  });

  it('asks no model when it was learnt from before', async () => {
    const world = new ReflectingWorld([example()]);
    await world.run();
    const { learning } = world.process();
    const learnt = await learning.learn(RUN, asker(ANNA));
    expect(await world.process().learning.learn(RUN, asker(BERT))).toEqual(learnt);
    expect([world.model.requests.length, await world.types()]).toEqual([1, ['RUN_SUMMARISED']]);
  });

  it('goes on with what is recorded when it crashed before the example was kept', async () => {
    const world = new ReflectingWorld([example()]);
    await world.run();
    world.store.add = () => new Promise(() => {});
    void world.process().learning.learn(RUN, asker(ANNA));
    while ((await world.types()).length === 0) await new Promise((resolve) => void setImmediate(resolve));
    Reflect.deleteProperty(world.store, 'add');
    expect(await world.store.list({})).toEqual([]);
    expect(await world.process().learning.learn(RUN, asker(BERT))).toMatchObject({ id: RUN, learntBy: 'bert' });
    expect([world.model.requests.length, await world.types()]).toEqual([1, ['RUN_SUMMARISED']]);
  });

  it('asks nobody while the store is away, and no model again when it went away in between', async () => {
    const world = new ReflectingWorld([example()]);
    await world.run();
    const { learning } = world.process();
    world.store.isAway = true;
    await expect(learning.learn(RUN, asker(ANNA))).rejects.toThrow(
      'PostgreSQL, where the experiences lie, is not there',
    );
    expect(world.model.requests).toHaveLength(0);
    world.store.isAway = false;
    const add = world.store.add.bind(world.store);
    world.store.add = (learnt) => {
      world.store.isAway = true;
      return add(learnt);
    };
    await expect(learning.learn(RUN, asker(ANNA))).rejects.toThrow('recorded with the run, but PostgreSQL went away');
    world.store.add = add;
    world.store.isAway = false;
    expect(await learning.learn(RUN, asker(ANNA))).toMatchObject({ id: RUN });
    expect(world.model.requests).toHaveLength(1);
  });

  it.each([
    [{ end: 'none' as const }, 'has not ended yet; only then it can be learnt from'],
    [{ end: 'failed' as const }, 'did not succeed'],
    [{ end: 'partially_failed' as const }, 'did not succeed'],
    [{ goal: null }, 'had no goal in words'],
  ])('is refused for a run like %j', async (run, sentence) => {
    const world = new ReflectingWorld([example()]);
    await world.run(run);
    await expect(world.process().learning.learn(RUN, asker(ANNA))).rejects.toThrow(sentence);
    expect([world.model.requests.length, await world.types(), world.store.rows.size]).toEqual([0, [], 0]);
  });

  it('is refused for a run that nobody knows, and without a model', async () => {
    const world = new ReflectingWorld();
    await expect(world.process().learning.learn(RUN, asker(ANNA))).rejects.toThrow('There is no run run1.');
    await world.run();
    await expect(world.process({ hasModel: false }).learning.learn(RUN, asker(ANNA))).rejects.toThrow(
      'No model is configured',
    );
  });

  it('tells the model what is wrong with a plan that could not run', async () => {
    const aimless = { tasks: [{ task_id: 'a', name: 'a', description: '' }] };
    const script = [example({ constellation: cyclic }), example({ constellation: aimless }), 'no', example()];
    const world = new ReflectingWorld(script);
    await world.run();
    await world.process().learning.learn(RUN, asker(ANNA));
    const told = world.model.requests.map(({ messages }) => JSON.stringify(messages.at(-1)));
    expect(told[1]).toContain('the lines form a cycle');
    expect(told[2]).toContain('constellation.tasks[0].target_device_id');
    const [plan] = await world.plans.load(RUN);
    expect(plan?.commit.events).toMatchObject([{ data: { calls: [{}, {}, {}, { problems: [] }] } }]);
  });

  it('fails with a sentence when the model says nothing but nonsense, and keeps nothing', async () => {
    const world = new ReflectingWorld(['no', '{}', '[]', 'no']);
    await world.run();
    await expect(world.process().learning.learn(RUN, asker(ANNA))).rejects.toThrow(
      'No example could be made: No usable reply in 4 tries',
    );
    expect([await world.types(), world.store.rows.size]).toEqual([[], 0]);
  });

  it('keeps nothing of results that looks like a secret', async () => {
    const tips = [`the session was ${TOKEN}`, 'log in with password=hunter2'];
    const world = new ReflectingWorld([example({ tips })]);
    await world.run({ stdout: `session ${TOKEN}` });
    const learnt = await world.process().learning.learn(RUN, asker(ANNA));
    expect(learnt.tips).toEqual(['the session was [secret]', 'log in with password=[secret]']);
    const [plan] = await world.plans.load(RUN);
    expect(plan?.commit.events).toMatchObject([{ data: { example: { tips: learnt.tips } } }]);
  });

  it('refuses an example that is no plan any more without its secrets', async () => {
    const condition = `result.exit_code == 0 && size("x") == 1 && result.${WORD} == 2`;
    const constellation = {
      tasks: ['a', 'b'].map((id) => ({ task_id: id, name: id, description: '', target: { os: 'linux' } })),
      dependencies: [{ dependency_id: 'ab', from_task_id: 'a', to_task_id: 'b', condition }],
    };
    const world = new ReflectingWorld([example({ constellation })]);
    await world.run({ stdout: WORD });
    await expect(world.process().learning.learn(RUN, asker(ANNA))).rejects.toThrow('it is no plan any more');
    expect(await world.types()).toEqual([]);
  });

  it('keeps no half characters, which nothing could be hashed with', async () => {
    const world = new ReflectingWorld([
      String.raw`{"request":"disk \ud800","tips":[],"constellation":{"tasks":[{"task_id":"a","name":"a","description":"","target":{"os":"linux"}}]}}`,
    ]);
    await world.run();
    expect((await world.process().learning.learn(RUN, asker(ANNA))).request).toBe('disk \uFFFD');
  });

  it('stays recorded when the example is forgotten, and can be taken back without a model', async () => {
    const world = new ReflectingWorld([example()]);
    await world.run();
    const { learning } = world.process();
    await learning.learn(RUN, asker(ANNA));
    expect([await learning.forget(RUN), await learning.forget(RUN)]).toEqual([true, false]);
    expect([await learning.experiences(), await world.types()]).toEqual([[], ['RUN_SUMMARISED']]);
    await learning.learn(RUN, asker(ANNA));
    expect([world.store.rows.size, world.model.requests.length]).toEqual([1, 1]);
  });
});

describe('learning from a demonstration', () => {
  it('keeps the example with the calls that it took', async () => {
    const world = new ReflectingWorld([example({ tips: [`it says ${TOKEN}`] })]);
    const learnt = await world.process().learning.demonstrate(DEMONSTRATION, ANNA);
    expect(learnt).toMatchObject({ kind: 'demonstration', source: 'disks by hand', tips: ['it says [secret]'] });
    expect(world.store.rows.get(learnt.id)).toMatchObject({
      calls: [{ model: 'scripted' }],
      templates: [{ id: 'planner/watch' }],
    });
  });

  it('makes one example of the same demonstration, whoever shows it, and another one of another', async () => {
    const world = new ReflectingWorld([example(), example()]);
    const { learning } = world.process();
    const both = [ANNA, BERT].map((by) => learning.demonstrate({ ...DEMONSTRATION }, by));
    const [first, second] = await Promise.all(both);
    expect(second).toEqual(first);
    expect(await world.process().learning.demonstrate(DEMONSTRATION, BERT)).toEqual(first);
    expect(world.model.requests).toHaveLength(1);
    await learning.demonstrate({ ...DEMONSTRATION, name: 'other' }, BERT);
    expect(world.store.rows.size).toBe(2);
  });

  it('fails with a sentence when no example comes of it', async () => {
    const world = new ReflectingWorld([{ error: { code: 'BAD_REQUEST', message: 'no such model' } }]);
    const failed = world.process().learning.demonstrate(DEMONSTRATION, ANNA);
    await expect(failed).rejects.toThrow('No example could be made: scripted: no such model');
    world.store.isAway = true;
    await expect(world.process().learning.demonstrate(DEMONSTRATION, ANNA)).rejects.toThrow('is not there');
    await expect(world.process().learning.forget('x')).rejects.toThrow('is not there');
    await expect(world.process().learning.experiences()).rejects.toThrow('is not there');
  });
});

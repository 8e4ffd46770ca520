import { describe, expect, it } from '@jest/globals';
import { Experience, LIMITS, Proposal } from '#proto';
import { verifyChain } from '#libs/event-log';
import type { ModelRequest } from '#libs/llm';
import { BoundaryTaken } from '#libs/prompter';
import { PlanningFleet } from '../fleet/fleet.js';
import { NOW, PlannerWorld, profileOf, RUN_ID } from '../testing/planner-world.js';
import { addStar, addTask, edit, finish, plan, task } from '../testing/replies.js';

const DONE = { kind: 'done' };
const BOTH = ['ROUND_PLANNED', 'PLAN_PROPOSED'];

/** A world whose plan of these tasks was accepted; they run. */
async function planned(
  replies: ConstructorParameters<typeof PlannerWorld>[0],
  options: Parameters<PlannerWorld['submit']>[1] = {},
): Promise<PlannerWorld> {
  const world = new PlannerWorld(replies);
  const opened = await world.submit('look after the disks', options);
  expect(await world.planner().handle(opened)).toEqual(DONE);
  await world.judge();
  return world;
}

/** A world whose model never answers; `thinking` resolves when it is asked. */
function thoughtful(): { world: PlannerWorld; thinking: Promise<void> } {
  const { promise: thinking, resolve } = Promise.withResolvers<void>();
  const world = new PlannerWorld(() => {
    resolve();
    return new Promise(() => {});
  });
  return { world, thinking };
}

const lineOf = (from: string, to: string) => ({ dependency_id: `${from}-${to}`, from_task_id: from, to_task_id: to });
const ONE_LINE = [lineOf('a', 'b')];

const tasksOf = ({ edits }: Proposal): unknown =>
  edits.flatMap((one) =>
    one.tool === 'build_constellation' ? one.constellation.tasks.map(({ id }) => id) : [one.tool],
  );

const lastOf = (request: ModelRequest | undefined): string => JSON.stringify(request?.messages.at(-1));

describe('creation', () => {
  it('asks the model once and stores its reply with the proposal that follows, in one commit', async () => {
    const world = new PlannerWorld([plan([task('a'), task('b')])]);
    const opened = await world.submit();
    expect(await world.planner().handle(opened)).toEqual(DONE);
    expect(await world.types()).toEqual([BOTH]);
    const [recorded] = await world.factsOf('ROUND_PLANNED');
    expect(recorded).toMatchObject({ editId: 'e1', try: 1, mode: 'creation', source: 'model', revision: 0 });
    expect(recorded?.calls).toHaveLength(1);
    expect(recorded?.templates).toEqual([{ id: 'test', hash: 'd'.repeat(64) }]);
    const [proposed] = await world.factsOf('PLAN_PROPOSED');
    expect(proposed).toMatchObject({ source: 'model', used: { llmCalls: 1, tokens: 110 } });
    expect(proposed?.proposal).toMatchObject({ editId: 'e1', try: 1, baseRevision: 0, state: 'CONTINUE' });
    expect(proposed && tasksOf(proposed.proposal)).toEqual(['a', 'b']);
    const stored = await world.plans.load(RUN_ID);
    expect(verifyChain(stored.map(({ commit }) => commit))).toEqual([]);
    expect(stored[0]?.commit.causes).toEqual([{ kind: 'run', id: opened.commit }]);
    await world.judge();
    expect((await world.run()).running.size).toBe(2);
  });

  it('asks again, with what is wrong, until the reply is JSON that the schema takes', async () => {
    const world = new PlannerWorld(['certainly!', { json: { thought: 'no plan' } }, plan([task('a')])]);
    expect(await world.planner().handle(await world.submit())).toEqual(DONE);
    const [recorded] = await world.factsOf('ROUND_PLANNED');
    expect(recorded?.calls.map(({ problems }) => problems.length > 0)).toEqual([true, true, false]);
    expect((await world.factsOf('PLAN_PROPOSED'))[0]?.used.llmCalls).toBe(3);
  });

  it('asks again when the plan could not be carried out, with the path and what would be valid', async () => {
    const cycle = [
      { dependency_id: 'l1', from_task_id: 'a', to_task_id: 'b' },
      { dependency_id: 'l2', from_task_id: 'b', to_task_id: 'a' },
    ];
    const world = new PlannerWorld([plan([task('a'), task('b')], cycle), plan([task('a')])]);
    expect(await world.planner().handle(await world.submit())).toEqual(DONE);
    expect(lastOf(world.model.requests[1])).toMatch(/acyclic/u);
    expect(await world.types()).toEqual([BOTH]);
  });

  it('ends the round when the model keeps to a device that is not there', async () => {
    const world = new PlannerWorld(() => plan([task('a', { target_device_id: 'mars' })]));
    expect(await world.planner().handle(await world.submit())).toEqual(DONE);
    expect(await world.types()).toEqual([['ROUND_FAILED']]);
    const [why] = await world.factsOf('ROUND_FAILED');
    expect(why?.calls).toHaveLength(LIMITS.replyRepairsMax + 1);
    expect(why).toMatchObject({ error: { code: 'MODEL_REPLY_INVALID' }, used: { llmCalls: 4 } });
    expect(why?.error.message).toMatch(/no device "mars" is enrolled/u);
    await world.judge();
    expect(await world.run()).toMatchObject({ phase: 'FAILED' });
  });

  it('ends the round when the model cannot be reached', async () => {
    const world = new PlannerWorld([{ error: { code: 'UNREACHABLE', message: 'nobody listens' } }]);
    expect(await world.planner().handle(await world.submit())).toEqual(DONE);
    expect((await world.factsOf('ROUND_FAILED'))[0]?.error).toEqual({
      code: 'MODEL_UNAVAILABLE',
      message: 'scripted: nobody listens',
    });
  });

  it('says without a model what is missing', async () => {
    const world = new PlannerWorld();
    expect(await world.planner({ model: null }).handle(await world.submit())).toEqual(DONE);
    const [why] = await world.factsOf('ROUND_FAILED');
    expect(why).toMatchObject({ calls: [], error: { code: 'NO_MODEL' }, used: { llmCalls: 0 } });
    expect(why?.error.message).toMatch(/OPENAI_BASE_URL, OPENAI_API_KEY and ORRERY_MODEL/u);
    expect(world.model.requests).toEqual([]);
  });

  it('waits until it is known who serves agents, and calls nothing impossible before', async () => {
    const world = new PlannerWorld([plan([task('a')])]);
    const fleet = new PlanningFleet();
    fleet.replace(new Map([['web-1', profileOf('web-1')]]));
    Object.assign(world, { fleet });
    const seen: number[] = [];
    const before = async (call: string): Promise<void> => void (call === 'model' && seen.push(fleet.view.agents.size));
    const handled = world.planner({ before }).handle(await world.submit());
    for (let turns = 0; turns < 20; turns++) await new Promise(setImmediate);
    fleet.served(['LinuxAgent'], 0);
    expect(await handled).toEqual(DONE);
    expect(seen).toEqual([1]);
  });

  it('may find that nothing has to be done', async () => {
    const nothing = { json: { thought: 'idle', state: 'FINISH', result: 'It is done already.', constellation: null } };
    const world = new PlannerWorld([nothing]);
    await world.planner().handle(await world.submit());
    const [proposed] = await world.factsOf('PLAN_PROPOSED');
    expect(proposed?.proposal).toMatchObject({ state: 'FINISH', answer: { text: 'It is done already.' } });
  });

  it('records a reply with halves of characters as text that has a canonical form', async () => {
    const world = new PlannerWorld([
      JSON.stringify({ thought: 'x', state: 'FINISH', result: 'half: \ud83d', constellation: null }),
    ]);
    expect(await world.planner().handle(await world.submit())).toEqual(DONE);
    expect((await world.factsOf('ROUND_PLANNED'))[0]?.reply).toMatchObject({ result: 'half: \ufffd' });
  });

  it('names the examples that the model was shown', async () => {
    const world = new PlannerWorld([plan([task('a')])]);
    const example = Experience.parse({
      id: 'x1',
      kind: 'experience',
      request: 'look after some disks',
      tips: [],
      constellation: { tasks: [{ task_id: 'a', name: 'a', description: '', target: { os: 'linux' } }] },
      source: 'run-0',
      learntBy: 'cli',
      learntAt: '2026-11-20T10:00:00.000Z',
    });
    await world.planner({ examples: [example] }).handle(await world.submit());
    expect((await world.factsOf('ROUND_PLANNED'))[0]?.examples).toEqual(['x1']);
  });
});

describe('a prompt', () => {
  it('is made with another boundary when some text has the first one already', async () => {
    const world = new PlannerWorld([plan([task('a')])]);
    const used: string[] = [];
    const planner = world.planner({
      prompt: ({ fenceBoundary }) => {
        used.push(fenceBoundary);
        if (used.length === 1) throw new BoundaryTaken('request');
        return { messages: [], templates: [], examples: [] };
      },
    });
    expect(await planner.handle(await world.submit())).toEqual(DONE);
    expect(used).toEqual(['boundary-of-i1-0', 'boundary-of-i1-1']);
    expect(await world.types()).toEqual([BOTH]);
  });

  it('that cannot be made ends the round, and is not tried for ever', async () => {
    const world = new PlannerWorld();
    const broken = () => {
      throw new TypeError('nothing there');
    };
    expect(await world.planner({ prompt: broken }).handle(await world.submit())).toEqual(DONE);
    expect((await world.factsOf('ROUND_FAILED'))[0]?.error).toEqual({
      code: 'PLANNER_FAULT',
      message: 'The planner could not make a prompt: nothing there',
    });
  });
});

describe('editing', () => {
  it('lets a failure be judged by the model, and is told what failed', async () => {
    const world = await planned([plan([task('a')]), edit([addTask('again')])]);
    const opened = await world.fail('a');
    const planner = world.planner();
    expect(await planner.handle(opened)).toEqual(DONE);
    expect(planner.views[0]).toMatchObject({ triggers: [{ kind: 'task', taskId: 'a', attempt: 1 }] });
    const [, recorded] = await world.factsOf('ROUND_PLANNED');
    expect(recorded).toMatchObject({ editId: 'e2', try: 1, mode: 'editing', source: 'model', revision: 1 });
    await world.judge();
    expect((await world.run()).revision).toBe(2);
  });

  it('is asked for the last word when its plan has ended, and gives it with evidence', async () => {
    const world = await planned([plan([task('a')]), finish('Half full.', ['a'])]);
    const opened = await world.complete('a');
    await world.planner().handle(opened);
    const proposed = (await world.factsOf('PLAN_PROPOSED')).at(-1);
    expect(proposed?.proposal).toMatchObject({ state: 'FINISH', answer: { text: 'Half full.', evidence: ['a'] } });
    await world.judge();
    expect(await world.run()).toMatchObject({ phase: 'COMPLETED', answer: { text: 'Half full.', by: 'model' } });
  });

  it('asks nobody about results that go their way along lines', async () => {
    const world = await planned([plan([task('a', { review: true }), task('b')], ONE_LINE)]);
    const opened = await world.complete('a');
    await world.planner({ model: null }).handle(opened);
    const proposed = (await world.factsOf('PLAN_PROPOSED')).at(-1);
    expect(proposed).toMatchObject({
      source: 'rule',
      used: { llmCalls: 0 },
      proposal: { state: 'CONTINUE', edits: [] },
    });
    expect(world.model.requests).toHaveLength(1);
  });

  it('tells the model why the orchestrator refused its proposal, in the words of its reply', async () => {
    const world = await planned([plan([task('a')]), edit([addTask('again')]), edit([addTask('other')])]);
    await world.planner().handle(await world.fail('a'));
    // What was there when it was planned is not there any more.
    world.devices(profileOf('db-1'));
    const refused = await world.judge();
    expect(refused.events.map(({ type }) => type)).toContain('EDIT_REJECTED');
    const planner = world.planner();
    await planner.handle(refused);
    const [view] = planner.views;
    expect(view).toMatchObject({ violations: [{ code: 'NO_DEVICE' }], tried: { state: 'CONTINUE' } });
  });
});

describe('under every-result', () => {
  const every = { editPolicy: 'every-result' } as const;
  const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
  const inARow = ids.slice(1).map((to, index) => lineOf(ids[index] ?? '', to));

  it('the model is asked after every completion, of exact commands, too, and may change what comes next', async () => {
    const refine = (to: string) =>
      edit([{ tool: 'update_task', arguments: { task_id: to, description: `with what came before ${to}` } }]);
    const replies = [...ids.slice(1).map(refine), finish('All six are done.', ids)];
    const world = await planned(
      [
        plan(
          ids.map((id) => task(id)),
          inARow,
        ),
        ...replies,
      ],
      every,
    );
    for (const id of ids) {
      const planner = world.planner();
      expect(await planner.handle(await world.complete(id))).toEqual(DONE);
      expect(planner.views).toMatchObject([{ triggers: [{ kind: 'task', taskId: id, attempt: 1 }] }]);
      await world.judge();
    }
    const rounds = (await world.factsOf('ROUND_PLANNED')).slice(1);
    expect(rounds.map(({ mode, source, calls }) => [mode, source, calls.length])).toEqual(
      ids.map(() => ['editing', 'model', 1]),
    );
    expect(world.model.requests).toHaveLength(1 + ids.length);
    expect(await world.run()).toMatchObject({
      phase: 'COMPLETED',
      revision: 6,
      rounds: 7,
      answer: { text: 'All six are done.' },
    });
  });

  it('what has completed while the model thought is one batch, and one question', async () => {
    const world = await planned([plan(ids.map((id) => task(id))), edit([]), finish('All six are done.', ids)], every);
    const opened = await world.complete('a');
    for (const id of ids.slice(1)) await world.complete(id);
    expect(await world.planner().handle(opened)).toEqual(DONE);
    const next = await world.judge();
    const planner = world.planner();
    expect(await planner.handle(next)).toEqual(DONE);
    const triggers = ids.slice(1).map((taskId) => ({ kind: 'task', taskId, attempt: 1 }));
    expect(planner.views).toMatchObject([{ triggers }]);
    await world.judge();
    expect(world.model.requests).toHaveLength(3);
    expect(await world.run()).toMatchObject({ phase: 'COMPLETED', answer: { by: 'model' } });
  });

  it('nobody is asked again when the last completion was answered with no change', async () => {
    const world = await planned([plan([task('a')]), edit([])], every);
    expect(await world.planner().handle(await world.complete('a'))).toEqual(DONE);
    await world.judge();
    expect(await world.run()).toMatchObject({ phase: 'COMPLETED', rounds: 2, answer: { by: 'collected' } });
  });

  it('the bound on rounds counts them, and the run goes on without', async () => {
    const three = ids.slice(0, 3);
    const replies = [
      plan(
        three.map((id) => task(id)),
        inARow.slice(0, 2),
      ),
      edit([]),
    ];
    const world = await planned(replies, { ...every, rounds: 2 });
    await world.planner().handle(await world.complete('a'));
    await world.judge();
    await world.planner().handle(await world.complete('b'));
    expect((await world.factsOf('ROUND_FAILED'))[0]?.error.code).toBe('TOO_MANY_ROUNDS');
    await world.judge();
    await world.complete('c');
    expect(await world.run()).toMatchObject({ phase: 'COMPLETED', rounds: 3, answer: { by: 'collected' } });
  });

  it('a model that is not there changes nothing: a rule answers', async () => {
    const world = await planned([plan([task('a'), task('b')], ONE_LINE)], every);
    await world.planner({ model: null }).handle(await world.complete('a'));
    expect((await world.factsOf('PLAN_PROPOSED')).at(-1)).toMatchObject({ source: 'rule', used: { llmCalls: 0 } });
  });
});

describe('a round that nobody waits for', () => {
  it.each(['the same message again', 'a later try', 'the end of the run'])('is left alone: %s', async (what) => {
    const world = new PlannerWorld([plan([task('a')]), plan([task('b')])]);
    const opened = await world.submit();
    const planner = world.planner();
    if (what === 'the end of the run') {
      await world.cancel();
    } else await planner.handle(opened);
    if (what === 'a later try') await world.judge();
    const before = world.model.requests.length;
    expect(await world.planner().handle(opened, 2)).toEqual(DONE);
    expect(world.model.requests).toHaveLength(before);
    expect(await world.types()).toHaveLength(before);
  });

  it('stops thinking, and writes nothing but what was asked in vain', async () => {
    const { world, thinking } = thoughtful();
    const opened = await world.submit();
    const planner = world.planner({ lookMs: 3_600_000 });
    const handled = planner.handle(opened);
    await thinking;
    const ended = await world.cancel();
    // Whatever passes by of the run makes it look.
    expect(await planner.handle(ended)).toEqual(DONE);
    expect(await handled).toEqual(DONE);
    expect(await world.types()).toEqual([['ROUND_FAILED']]);
    const [why] = await world.factsOf('ROUND_FAILED');
    expect(why).toMatchObject({
      error: { code: 'ROUND_IS_OVER' },
      calls: [{ model: 'scripted' }],
      used: { llmCalls: 1 },
    });
    expect(planner.records).toMatchObject([{ outcome: 'over', used: { llmCalls: 1 } }]);
  });

  it('stops thinking also when it has to find out by itself', async () => {
    const { world, thinking } = thoughtful();
    const handled = world.planner({ lookMs: 1 }).handle(await world.submit());
    await thinking;
    await world.cancel();
    expect(await handled).toEqual(DONE);
    expect(await world.types()).toEqual([['ROUND_FAILED']]);
  });

  it('is told of a reply that came too late, and takes no notice', async () => {
    const world = await planned([plan([task('a')]), edit([addTask('late')])]);
    const opened = await world.fail('a');
    const by = { kind: 'person', id: 'operator' } as const;
    const proposal = Proposal.parse({ editId: 'e2', try: 1, edits: [addStar('mine')] });
    const after = async (call: string): Promise<void> => {
      if (call !== 'model') return;
      await world.decide({ kind: 'verb', id: 'v1', by, action: { verb: 'PROPOSE', proposal, delegated: false } });
    };
    expect(await world.planner({ after }).handle(opened)).toEqual(DONE);
    const [why] = await world.factsOf('ROUND_FAILED');
    expect(why).toMatchObject({
      editId: 'e2',
      try: 1,
      error: { code: 'ROUND_IS_OVER' },
      used: { llmCalls: 1, tokens: 110 },
    });
    const { phase, editing } = await world.run();
    await expect(world.judge()).rejects.toThrow('nothing follows');
    expect(await world.run()).toMatchObject({ phase, editing });
  });

  it('asks nothing when there is no time left for an answer', async () => {
    const world = new PlannerWorld([plan([task('a')])]);
    const opened = await world.submit('look', { editDeadlineMs: 1_000 });
    world.now = NOW + 950;
    expect(await world.planner().handle(opened)).toEqual(DONE);
    expect(world.model.requests).toEqual([]);
    expect(await world.facts()).toEqual([]);
  });

  it('gives the model the time that is left, less what storing the answer takes', async () => {
    const world = new PlannerWorld([plan([task('a')])]);
    const opened = await world.submit('look', { editDeadlineMs: 60_000 });
    world.now = NOW + 10_000;
    await world.planner().handle(opened);
    const [request] = world.model.requests;
    expect(request?.deadlineMs).toBeGreaterThan(40_000);
    expect(request?.deadlineMs).toBeLessThanOrEqual(48_000);
  });
});

describe('a replica that stops', () => {
  it('leaves what it thinks about to the others, at once', async () => {
    const { world, thinking } = thoughtful();
    const opened = await world.submit();
    const planner = world.planner();
    const handled = planner.handle(opened);
    await thinking;
    planner.live.end();
    expect(await handled).toMatchObject({ kind: 'retry', delayMs: 0 });
    expect(await planner.handle(opened, 2)).toMatchObject({ kind: 'retry', delayMs: 0 });
    expect(await world.facts()).toEqual([]);
  });
});

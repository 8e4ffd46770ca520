import { describe, expect, it } from '@jest/globals';
import { ACK_WAIT_MS } from '#proto';
import { messageOf, type TestAgent } from '../testing/agent.js';
import { AgentWorld, commandAt } from '../testing/agent-world.js';
import { execCli } from '../testing/run.js';
import { finish, reply } from '../testing/shell-agent.js';

const CANCELLED = { status: 'failed', error: { code: 'CANCELLED', outcome: 'cancelled' } };
const VERIFY = { verify: { command: { tool: 'EXEC_CLI', arguments: { command: 'test -f x' } } } };
const never = () => new Promise<void>(() => {});

/** A process that died when the device had just been asked for a command. */
async function diedAtWork(world: AgentWorld): Promise<void> {
  const { promise: died, resolve } = Promise.withResolvers<void>();
  let isDead = false;
  const after = async (call: string): Promise<void> => {
    isDead ||= call === 'ask run';
    if (!isDead) return;
    resolve();
    await never();
  };
  await world.world.record(world.run);
  void world
    .agent({ instance: 'dying', before: () => (isDead ? never() : Promise.resolve()), after })
    .starts.handle(messageOf(world.commit));
  await died;
}

/** A stop of which the device was not told: the process that heard of it died before. */
async function stopUntold(world: AgentWorld): Promise<void> {
  const before = (call: string) => (call === 'tell stop' ? never() : Promise.resolve());
  await world.agent({ instance: 'signals', before }).control.handle(messageOf(world.run.stop('a')));
}

const goOn = (world: AgentWorld, agent: TestAgent = world.agent({ instance: 'next' })): Promise<unknown> =>
  agent.starts.handle(messageOf(world.commit, 2));

describe('who was interrupted and then finds that the log went on', () => {
  it('adds no second end: the device was lost and the run closed the attempt', async () => {
    const world = new AgentWorld([reply('sleep'), finish('done')]);
    world.device.holds = true;
    let closing: Promise<unknown> | undefined;
    const agent: TestAgent = world.agent({
      before: async (call) => {
        if (call !== 'attempts.append' || agent.state === undefined || closing !== undefined) return;
        closing = world.agent({ instance: 'i2' }).control.handle(messageOf(world.run.failWithoutEnd('a')));
        await closing;
      },
    });
    await world.world.record(world.run);
    const handled = agent.starts.handle(messageOf(world.commit));
    await world.device.until(() => world.device.executed.length === 1);
    agent.state = {
      deviceId: 'web-1',
      lost: true,
      connected: false,
      sessionId: 'session-1',
      connectedAt: '2026-11-20T09:00:00.000Z',
    };
    expect(await handled).toEqual({ kind: 'done' });
    expect(closing).toBeDefined();
    expect(await world.end()).toMatchObject({ error: { outcome: 'unknown' } });
    expect(await world.facts('COMMAND_FINISHED')).toHaveLength(1);
  });

  it('adds nothing to what another one has gone on with while it was about to end', async () => {
    const world = new AgentWorld([reply('df'), reply('df'), finish('done')]);
    let going: Promise<unknown> | undefined;
    const agent: TestAgent = world.agent({
      before: async (call) => {
        if (call !== 'attempts.append' || going !== undefined) return;
        agent.live.leave();
        going = goOn(world);
        await going;
      },
    });
    await world.world.record(world.run);
    expect(await agent.starts.handle(messageOf(world.commit))).toEqual({ kind: 'done' });
    expect((await world.types()).at(-1)).toContain('ATTEMPT_FINISHED');
    expect(await world.facts('STEP_PLANNED')).toHaveLength(2);
    expect(world.device.executed).toEqual([commandAt(1)]);
  });
});

describe('a stop of an attempt whose process has died', () => {
  it('is told to the device by who goes on, and the outcome is recorded', async () => {
    const world = new AgentWorld([reply('sleep 100'), finish('done')]);
    world.device.holds = true;
    world.device.soFar = execCli('half', 143);
    await diedAtWork(world);
    await stopUntold(world);
    expect(await goOn(world)).toEqual({ kind: 'done' });
    expect(world.device.requests.map(({ kind }) => kind)).toContain('stop');
    expect(await world.facts('COMMAND_FINISHED')).toMatchObject([{ state: 'CANCELLED' }]);
    expect(await world.end()).toMatchObject({ ...CANCELLED, error: { output: { value: { stdout: 'half' } } } });
    expect(world.device.forgotten).toEqual([commandAt(1)]);
    expect(world.model.requests).toHaveLength(1);
  });

  it('loses no result that the device has by then', async () => {
    const world = new AgentWorld([reply('df'), finish('done')]);
    await diedAtWork(world);
    await stopUntold(world);
    await goOn(world);
    expect(await world.facts('COMMAND_FINISHED')).toMatchObject([{ state: 'COMPLETED' }]);
    expect(await world.end()).toMatchObject({ ...CANCELLED, error: { output: { value: { stdout: 'df\n' } } } });
  });

  it('ends with the device, too, when that is lost meanwhile', async () => {
    const world = new AgentWorld([reply('sleep'), finish('done')]);
    world.device.holds = true;
    await diedAtWork(world);
    await stopUntold(world);
    world.device.away = true;
    const next = world.agent({ instance: 'next' });
    const handled = goOn(world, next);
    next.state = {
      deviceId: 'web-1',
      lost: true,
      connected: false,
      sessionId: 'session-1',
      connectedAt: '2026-11-20T09:00:00.000Z',
    };
    expect(await handled).toEqual({ kind: 'done' });
    expect(await world.end()).toMatchObject({ error: { code: 'DEVICE_LOST' } });
    expect(await world.facts('COMMAND_FINISHED')).toMatchObject([{ state: 'OUTCOME_UNKNOWN' }]);
  });

  it.each([
    ['that still runs', true, 'CANCELLED'],
    ['that has ended', false, 'COMPLETED'],
  ])('asks what became of an exact command with a post-condition %s', async (_, holds, state) => {
    const world = new AgentWorld([], { agent: false, start: VERIFY });
    world.device.holds = holds;
    await diedAtWork(world);
    await stopUntold(world);
    expect(await goOn(world)).toEqual({ kind: 'done' });
    expect(await world.facts('COMMAND_FINISHED')).toMatchObject([{ commandId: commandAt(0), state }]);
    expect(await world.end()).toMatchObject(CANCELLED);
    expect(world.device.executed).toEqual([commandAt(0)]);
    expect(world.device.forgotten).toEqual([commandAt(0)]);
  });
});

describe('an agent that this replica does not serve', () => {
  it('is offered to others soon, and again ever more rarely', async () => {
    const world = new AgentWorld([finish('done')]);
    await world.world.record(world.run);
    const poor = world.agent({ kinds: [] });
    const delays: unknown[] = [];
    for (const deliveries of [1, 2, 3, 40]) {
      delays.push(await poor.starts.handle(messageOf(world.commit, deliveries)));
    }
    expect(delays).toMatchObject([50, 100, 200, ACK_WAIT_MS].map((delayMs) => ({ kind: 'retry', delayMs })));
    expect(await world.types()).toEqual([]);
    expect(await goOn(world)).toEqual({ kind: 'done' });
    expect(await world.end()).toMatchObject({ status: 'completed' });
  });

  it('ends all the same when it is stopped: nothing was begun', async () => {
    const world = new AgentWorld([finish('done')]);
    await world.world.record(world.run);
    const poor = world.agent({ kinds: [] });
    await poor.control.handle(messageOf(world.run.stop('a')));
    expect(await poor.starts.handle(messageOf(world.commit))).toEqual({ kind: 'done' });
    expect(await world.end()).toMatchObject(CANCELLED);
    expect(await poor.starts.handle(messageOf(world.commit, 2))).toEqual({ kind: 'done' });
    expect(await world.facts('ATTEMPT_FINISHED')).toHaveLength(1);
  });

  it('ends all the same when it is stopped, with what its last command came to', async () => {
    const world = new AgentWorld([reply('sleep'), finish('done')]);
    world.device.holds = true;
    await diedAtWork(world);
    await stopUntold(world);
    expect(await goOn(world, world.agent({ instance: 'poor', kinds: [] }))).toEqual({ kind: 'done' });
    expect(await world.facts('COMMAND_FINISHED')).toMatchObject([{ state: 'CANCELLED' }]);
    expect(await world.end()).toMatchObject(CANCELLED);
  });
});

describe('a budget that is used up before the post-condition could be checked', () => {
  it('is the end, and what the agent had come to is kept', async () => {
    const world = new AgentWorld([reply('touch x'), finish('made', { notes: ['x is there'] })], {
      start: { ...VERIFY, budget: { commands: 1 } },
    });
    await world.carryOut();
    expect(await world.end()).toMatchObject({
      error: { code: 'BUDGET_EXHAUSTED', output: { value: 'made' } },
      used: { commands: 1 },
      notes: ['x is there'],
    });
    expect(world.device.executed).toEqual([commandAt(1)]);
  });
});

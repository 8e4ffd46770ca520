import { describe, expect, it } from '@jest/globals';
import { commandIdOf, type CommandOutcome, type DeviceRequest } from '#proto';
import { AgentWorld } from './testing/agent-world.js';
import { keyOf, messageOf, TestAgent, World } from './testing/agent.js';
import { outcomeOf, ScriptedDevice } from './testing/device.js';
import type { GatewayReply } from './devices/link.client.js';
import { DEVICE_ID, TestRun } from './testing/run.js';
import { finish, reply } from './testing/shell-agent.js';

/* A foreign device keeps no journal: its session is all there is, and the gateway that held it all that is known. */

const FOREIGN = { id: 'a', start: { sessionId: 'session-1', journalId: null } };
const UNKNOWN: CommandOutcome = {
  ...outcomeOf('OUTCOME_UNKNOWN'),
  error: { code: 'OUTCOME_UNKNOWN', message: 'the connection to the device ended meanwhile', outcome: 'unknown' },
};
const NOBODY_KNOWS: GatewayReply = { state: 'refused', code: 'OUTCOME_UNKNOWN', message: 'another session' };
const NOT_SENT: GatewayReply = { state: 'refused', code: 'NOT_SENT', message: 'never sent' };

const stateOf = (change: object) => ({
  deviceId: DEVICE_ID,
  lost: false,
  connected: true,
  sessionId: 'session-1',
  connectedAt: '2026-11-20T09:00:00.000Z',
  ...change,
});

/** An exact command for a device whose gateways answer like this. */
async function endOfExact(answer: (request: DeviceRequest) => GatewayReply, state?: object) {
  const device = new ScriptedDevice();
  device.intercept = answer;
  const world = new World(device);
  const run = new TestRun([FOREIGN]);
  const agent = new TestAgent(world);
  if (state !== undefined) agent.state = stateOf(state);
  await agent.starts.handle(messageOf(run.start(FOREIGN)));
  const events = (await world.attempt('a')).flatMap(({ commit }) => commit.events);
  return { events, device };
}

describe('an exact command whose session is over', () => {
  it('was not sent when the gateway that held the session says so, whoever else knows nothing of it', async () => {
    const { events, device } = await endOfExact(({ kind }) => (kind === 'run' ? NOBODY_KNOWS : NOT_SENT));
    expect(device.requests[1]).toEqual({
      kind: 'sent',
      commandId: commandIdOf(keyOf('a')),
      deviceId: DEVICE_ID,
      sessionId: 'session-1',
      notAfter: '2026-11-20T10:10:00.000Z',
    });
    expect(events).toMatchObject([
      { type: 'ATTEMPT_FINISHED', data: { error: { code: 'NOT_SENT', outcome: 'failed', sent: false } } },
    ]);
  });

  it('has an unknown outcome when that gateway says that it was sent', async () => {
    const { events } = await endOfExact(({ kind }) => ({ state: kind === 'run' ? 'away' : 'done' }));
    expect(events.at(-1)).toMatchObject({ data: { error: { code: 'OUTCOME_UNKNOWN', outcome: 'unknown' } } });
    expect(events.at(-1)?.data).not.toHaveProperty('error.sent');
  });

  it('has an unknown outcome when that gateway is gone, too', async () => {
    const { events } = await endOfExact(({ kind }) => (kind === 'run' ? NOBODY_KNOWS : { state: 'away' }));
    expect(events.at(-1)).toMatchObject({ data: { error: { code: 'OUTCOME_UNKNOWN', outcome: 'unknown' } } });
  });

  it('was not sent where nobody was asked for it before a newer session was there', async () => {
    const { events, device } = await endOfExact(() => ({ state: 'away' }), { sessionId: 'session-2' });
    expect(device.requests.map(({ kind }) => kind)).toEqual(['run']);
    expect(events).toMatchObject([{ data: { error: { code: 'NOT_SENT', sent: false } } }]);
  });

  it('waits for its answer while the session goes on', async () => {
    let asked = 0;
    const { events } = await endOfExact(({ kind }) => {
      if (kind === 'sent') return { state: 'running' };
      return ++asked === 1 ? { state: 'away' } : { state: 'finished', outcome: outcomeOf('COMPLETED', 'ok') };
    });
    expect(events.at(-1)).toMatchObject({ data: { status: 'completed' } });
  });
});

describe('a device with a journal', () => {
  it('is asked itself, and no gateway', async () => {
    const device = new ScriptedDevice();
    device.intercept = () => NOBODY_KNOWS;
    const run = new TestRun([{ id: 'a' }]);
    await new TestAgent(new World(device)).starts.handle(messageOf(run.start({ id: 'a' })));
    expect(device.requests.map(({ kind }) => kind)).toEqual(['run']);
  });
});

describe("an agent's task on a foreign device that leaves", () => {
  const worldOf = (script: ConstructorParameters<typeof AgentWorld>[0]) =>
    new AgentWorld(script, { start: { sessionId: 'session-1', journalId: null } });
  const LEFT = { status: 'failed', error: { code: 'DEVICE_LOST', outcome: 'device_lost' } };

  it('under its command ends at once, whatever its model would have said', async () => {
    const world = worldOf([reply('df'), finish('all is well')]);
    world.device.respond = () => UNKNOWN;
    await world.carryOut();
    expect(await world.end()).toMatchObject(LEFT);
    expect(await world.facts('COMMAND_FINISHED')).toMatchObject([{ state: 'OUTCOME_UNKNOWN' }]);
    expect(world.model.requests).toHaveLength(1);
    expect(await world.violations()).toEqual([]);
  });

  it('ends at once, too, when the process that heard of it has died', async () => {
    const world = worldOf([reply('df'), finish('all is well')]);
    world.device.respond = () => UNKNOWN;
    let isDead = false;
    const never = () => new Promise<void>(() => undefined);
    const { promise: died, resolve } = Promise.withResolvers<void>();
    let appends = 0;
    const after = async (call: string): Promise<void> => {
      isDead ||= call === 'attempts.append' && ++appends === 2;
      if (!isDead) return;
      resolve();
      await never();
    };
    await world.world.record(world.run);
    const before = () => (isDead ? never() : Promise.resolve());
    void world.agent({ instance: 'dying', before, after }).starts.handle(messageOf(world.commit));
    await died;
    await world.agent({ instance: 'next' }).starts.handle(messageOf(world.commit, 2));
    expect(await world.end()).toMatchObject(LEFT);
    expect(world.model.requests).toHaveLength(1);
  });

  it('while its model thinks ends without waiting for it', async () => {
    const { promise: thinking, resolve } = Promise.withResolvers<void>();
    const world = worldOf(({ signal }) => {
      if (world.model.requests.length === 1) return reply('df');
      resolve();
      return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted'))));
    });
    await world.world.record(world.run);
    const agent = world.agent();
    agent.state = stateOf({});
    const handled = agent.starts.handle(messageOf(world.commit));
    await thinking;
    world.device.intercept = ({ kind }) => (kind === 'sent' ? { state: 'done' } : undefined);
    agent.state = stateOf({ connected: false });
    await handled;
    expect(await world.end()).toMatchObject(LEFT);
  });

  it('is not over while its presence is not seen and its gateway has it', async () => {
    const world = worldOf([reply('df'), finish('all is well')]);
    world.device.intercept = ({ kind }) => (kind === 'sent' ? { state: 'running' } : undefined);
    await world.world.record(world.run);
    const agent = world.agent();
    agent.state = stateOf({ connected: false });
    await agent.starts.handle(messageOf(world.commit));
    expect(await world.end()).toMatchObject({ status: 'completed' });
  });

  it('before anything was done on it is for its next session', async () => {
    const world = worldOf([reply('df'), finish('all is well')]);
    await world.world.record(world.run);
    const agent = world.agent();
    agent.state = stateOf({ sessionId: 'session-2' });
    await agent.starts.handle(messageOf(world.commit));
    expect(await world.end()).toMatchObject({ status: 'failed', error: { code: 'NOT_SENT', sent: false } });
    expect(world.device.executed).toEqual([]);
  });
});

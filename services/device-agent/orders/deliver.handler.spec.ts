import { beforeEach, describe, expect, it } from '@jest/globals';
import { commandIdOf, LIMITS, type CommandOutcome } from '#proto';
import { verifyChain } from '#libs/event-log';
import { AttemptCommits } from '../live/attempt-commits.adapter.js';
import { CLOCK, keyOf, messageOf, TestAgent, World } from '../testing/agent.js';
import { outcomeOf, ScriptedDevice } from '../testing/device.js';
import { DEVICE_ID, execCli, TestRun } from '../testing/run.js';

const A = { id: 'a' };
const COMMAND_A = commandIdOf(keyOf('a'));
const DONE = outcomeOf('COMPLETED', execCli('late'));

let world: World;
let device: ScriptedDevice;
let run: TestRun;
let agent: TestAgent;

beforeEach(() => {
  device = new ScriptedDevice();
  world = new World(device);
  run = new TestRun([A]);
  agent = new TestAgent(world);
});

const deliver = async (change: { deviceId?: string; commandId?: string; outcome?: CommandOutcome } = {}) =>
  (await agent.results.deliver({ deviceId: DEVICE_ID, commandId: COMMAND_A, outcome: DONE, ...change })).state;

/** The attempt was started, and the run went on without it: nobody ever said what became of its command. */
async function closedWithoutOutcome(): Promise<void> {
  run.start(A);
  await world.record(run);
  const failed = run.failWithoutEnd('a');
  await world.record(run);
  expect(await agent.control.handle(messageOf(failed))).toEqual({ kind: 'done' });
  expect(await world.types('a')).toEqual([['COMMAND_FINISHED', 'ATTEMPT_FINISHED']]);
}

describe('a result that nobody asked for', () => {
  it('is wanted while its attempt runs: it is asked for by who carries it out', async () => {
    run.start(A);
    await world.record(run);
    expect(await deliver()).toBe('wanted');
    expect(await world.types('a')).toEqual([]);
  });

  it('is stored already when the attempt ended with it, and is not stored again', async () => {
    const start = run.start(A);
    await world.record(run);
    await agent.starts.handle(messageOf(start));
    const before = await world.types('a');
    expect(await deliver()).toBe('stored');
    expect(await world.types('a')).toEqual(before);
  });

  it('is recorded as an annotation, once, when the attempt has ended without it', async () => {
    await closedWithoutOutcome();
    expect(await deliver()).toBe('stored');
    expect(await deliver()).toBe('stored');
    expect(await deliver({ outcome: outcomeOf('FAILED') })).toBe('stored');
    expect(await world.types('a')).toEqual([['COMMAND_FINISHED', 'ATTEMPT_FINISHED'], ['COMMAND_FINISHED']]);
    const [, late] = await world.attempt('a');
    expect(late?.commit.events).toMatchObject([
      { data: { commandId: COMMAND_A, deviceId: DEVICE_ID, state: 'COMPLETED', result: { value: execCli('late') } } },
    ]);
    expect(verifyChain((await world.attempt('a')).map(({ commit }) => commit))).toEqual([]);
  });

  it('is recorded once when two replicas get it at the same time', async () => {
    await closedWithoutOutcome();
    const other = new TestAgent(world, { instance: 'i2' });
    const request = { deviceId: DEVICE_ID, commandId: COMMAND_A, outcome: DONE };
    const answers = await Promise.all([agent, other, agent].map(({ results }) => results.deliver(request)));
    expect(answers).toEqual([{ state: 'stored' }, { state: 'stored' }, { state: 'stored' }]);
    expect(await world.types('a')).toEqual([['COMMAND_FINISHED', 'ATTEMPT_FINISHED'], ['COMMAND_FINISHED']]);
  });

  it('is recorded although somebody else wrote to the attempt in between', async () => {
    await closedWithoutOutcome();
    const commits = new AttemptCommits({ attempts: world.attempts, runs: world.runs, clock: CLOCK, instance: 'i9' });
    let written = false;
    const before = async (call: string): Promise<void> => {
      if (call !== 'attempts.append' || written) return;
      written = true;
      const events = [{ type: 'ATTEMPT_RESUMED' as const, data: { instance: 'i9' } }];
      await commits.change(keyOf('a'), () => ({ value: null, events, causes: [] }));
    };
    agent = new TestAgent(world, { before });
    expect(await deliver()).toBe('stored');
    expect((await world.types('a')).slice(1)).toEqual([['ATTEMPT_RESUMED'], ['COMMAND_FINISHED']]);
  });

  it('that says nothing new is stored as it is: nobody knows on either side', async () => {
    await closedWithoutOutcome();
    expect(await deliver({ outcome: outcomeOf('OUTCOME_UNKNOWN') })).toBe('stored');
    expect(await world.types('a')).toHaveLength(1);
  });

  it('that is large is an artifact before an event names it', async () => {
    await closedWithoutOutcome();
    const order: string[] = [];
    agent = new TestAgent(world, { before: async (call) => void order.push(call) });
    const large = outcomeOf('COMPLETED', execCli('x'.repeat(LIMITS.resultBytesMax)));
    expect(await deliver({ outcome: large })).toBe('stored');
    expect(order.slice(-2)).toEqual(['artifacts.put', 'attempts.append']);
    expect(world.stored.size).toBe(1);
  });
});

describe('a result that is not this device’s to bring', () => {
  beforeEach(closedWithoutOutcome);

  it.each([
    ['of another device', { deviceId: 'web-2' }],
    ['of an attempt that was never started', { commandId: commandIdOf(keyOf('a', 2)) }],
    ['of a task that is not there', { commandId: commandIdOf(keyOf('z')) }],
    ['of a run that is not there', { commandId: 'nowhere.a.1.0.0' }],
    ['of a later step, which nobody sent', { commandId: `${COMMAND_A.slice(0, -3)}1.0` }],
    ['of an id that nobody gives', { commandId: '..' }],
  ])('is unknown: %s', async (_, change) => {
    expect(await deliver(change)).toBe('unknown');
    expect(await world.types('a')).toHaveLength(1);
  });
});

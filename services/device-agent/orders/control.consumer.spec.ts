import { beforeEach, describe, expect, it } from '@jest/globals';
import { commandIdOf, StopReason } from '#proto';
import { decide, emptyRun, type FleetView, foldRun, forkedFrom } from '#libs/constellation';
import { verifyChain } from '#libs/event-log';
import { keyOf, messageOf, TestAgent, World } from '../testing/agent.js';
import { outcomeOf, ScriptedDevice } from '../testing/device.js';
import { execCli, TestRun } from '../testing/run.js';

let world: World;
let device: ScriptedDevice;
let run: TestRun;
const A = { id: 'a' };
const COMMAND_A = commandIdOf(keyOf('a'));
const NO_FLEET: FleetView = {
  complete: false,
  watchedMs: 0,
  devices: new Map(),
  running: () => 0,
  reserved: () => 0,
  circuit: () => ({ state: 'closed' }),
  agents: new Set(),
  slotsLeft: Infinity,
};
const ENDED = ['COMMAND_FINISHED', 'ATTEMPT_FINISHED'];

beforeEach(() => {
  device = new ScriptedDevice();
  device.holds = true;
  world = new World(device);
  run = new TestRun([A]);
});

const errorsOf = async (taskId: string) =>
  (await world.attempt(taskId)).flatMap(({ commit }) =>
    commit.events.flatMap((event) =>
      event.type === 'ATTEMPT_FINISHED' && event.data.status === 'failed' ? [event.data.error] : [],
    ),
  );

describe('a stop', () => {
  it('is what the device hears when what was at its screen has ended, which is for the next then, also of an end that is found', async () => {
    device.holds = false;
    device.respond = () => outcomeOf('COMPLETED', 'clicked');
    const started = run.start({ ...A, tool: 'click_input' });
    await world.record(run);
    const stops = (): unknown[] => device.requests.filter(({ kind }) => kind === 'stop');
    const stop = { kind: 'stop', attempt: keyOf('a'), deviceId: 'web-1' };
    expect(await new TestAgent(world).starts.handle(messageOf(started))).toEqual({ kind: 'done' });
    expect(stops()).toEqual([stop]);
    // Its process may have ended between the end and the telling.
    expect(await new TestAgent(world).starts.handle(messageOf(started, 2))).toEqual({ kind: 'done' });
    expect(stops()).toEqual([stop, stop]);
    expect(await world.types('a')).toEqual([ENDED]);
  });

  it('is written to the attempt, obeyed by the device, and the attempt ends with what came of it', async () => {
    const start = run.start(A);
    const stop = run.stop('a');
    await world.record(run);
    const agent = new TestAgent(world);
    const started = agent.starts.handle(messageOf(start));
    await device.until(() => device.executed.length === 1);
    expect(await agent.control.handle(messageOf(stop))).toEqual({ kind: 'done' });
    expect(await started).toEqual({ kind: 'done' });
    expect(await world.types('a')).toEqual([['ATTEMPT_SIGNALLED'], ENDED]);
    expect(await errorsOf('a')).toMatchObject([{ code: 'CANCELLED', outcome: 'cancelled' }]);
    expect(verifyChain((await world.attempt('a')).map(({ commit }) => commit))).toEqual([]);
  });

  it.each(StopReason.options)('for %s ends the command and keeps what it had said until then', async (reason) => {
    device.soFar = execCli('began', 143);
    const start = run.start(A);
    const stop = run.stop('a', 1, reason);
    await world.record(run);
    const agent = new TestAgent(world);
    const started = agent.starts.handle(messageOf(start));
    await device.until(() => device.executed.length === 1);
    expect(await agent.control.handle(messageOf(stop))).toEqual({ kind: 'done' });
    expect(await started).toEqual({ kind: 'done' });
    const [signalled] = await world.attempt('a');
    expect(signalled?.commit.events).toMatchObject([{ data: { signal: 'stop', reason } }]);
    expect(await errorsOf('a')).toMatchObject([{ outcome: 'cancelled', output: { value: execCli('began', 143) } }]);
  });

  it('handled by another process is noticed in the log', async () => {
    const start = run.start(A);
    const stop = run.stop('a');
    await world.record(run);
    const started = new TestAgent(world, { instance: 'i1' }).starts.handle(messageOf(start));
    await device.until(() => device.executed.length === 1);
    // Its own word to the device is lost: only the owner can say it again.
    let lost = false;
    device.intercept = ({ kind }) => {
      if (kind !== 'stop' || lost) return undefined;
      lost = true;
      return { state: 'silent' };
    };
    await new TestAgent(world, { instance: 'i2' }).control.handle(messageOf(stop));
    expect(await started).toEqual({ kind: 'done' });
    expect(await errorsOf('a')).toMatchObject([{ outcome: 'cancelled' }]);
    expect(device.requests.filter(({ kind }) => kind === 'stop').length).toBeGreaterThan(1);
  });

  it('that comes twice is written once and said twice', async () => {
    run.start(A);
    const stop = run.stop('a');
    await world.record(run);
    const agent = new TestAgent(world);
    await agent.control.handle(messageOf(stop));
    await agent.control.handle(messageOf(stop, 2));
    expect(await world.types('a')).toEqual([['ATTEMPT_SIGNALLED']]);
    expect(device.requests.map(({ kind }) => kind)).toEqual(['stop', 'stop']);
  });

  it('that comes again after the end is said to the device again: who wrote it may have died before', async () => {
    const start = run.start(A);
    const stop = run.stop('a');
    await world.record(run);
    const agent = new TestAgent(world);
    await agent.control.handle(messageOf(stop));
    await agent.starts.handle(messageOf(start));
    const before = device.requests.length;
    await agent.control.handle(messageOf(stop, 2));
    expect(device.requests.slice(before)).toEqual([{ kind: 'stop', attempt: keyOf('a'), deviceId: 'web-1' }]);
  });

  it('that overtakes the start keeps the device from ever executing it', async () => {
    const start = run.start(A);
    const stop = run.stop('a');
    await world.record(run);
    const agent = new TestAgent(world);
    await agent.control.handle(messageOf(stop));
    expect(await agent.starts.handle(messageOf(start))).toEqual({ kind: 'done' });
    expect(device.executed).toEqual([]);
    expect(await world.types('a')).toEqual([['ATTEMPT_SIGNALLED'], ENDED]);
    expect(await errorsOf('a')).toMatchObject([{ outcome: 'cancelled' }]);
  });

  it('ends an attempt that nobody could be asked for without asking', async () => {
    device.away = true;
    const start = run.start(A);
    const stop = run.stop('a');
    await world.record(run);
    const { promise: asked, resolve } = Promise.withResolvers<void>();
    const agent = new TestAgent(world, { after: async (call) => (call === 'ask run' ? resolve() : undefined) });
    const started = agent.starts.handle(messageOf(start));
    await asked;
    await agent.control.handle(messageOf(stop));
    expect(await started).toEqual({ kind: 'done' });
    expect(await errorsOf('a')).toMatchObject([{ outcome: 'cancelled', message: 'it was stopped before it was sent' }]);
  });

  it('loses against a result that is there already', async () => {
    const start = run.start(A);
    const stop = run.stop('a');
    await world.record(run);
    let stopping: Promise<unknown> | undefined;
    const other = new TestAgent(world, { instance: 'i2' });
    device.holds = false;
    const agent = new TestAgent(world, {
      before: async (call) => {
        if (call === 'attempts.append' && stopping === undefined)
          await (stopping = other.control.handle(messageOf(stop)));
      },
    });
    expect(await agent.starts.handle(messageOf(start))).toEqual({ kind: 'done' });
    expect(await world.types('a')).toEqual([['ATTEMPT_SIGNALLED'], ENDED]);
    expect(await errorsOf('a')).toEqual([]);
  });

  it('of an attempt that has ended changes nothing', async () => {
    device.holds = false;
    const start = run.start(A);
    const stop = run.stop('a');
    await world.record(run);
    const agent = new TestAgent(world);
    await agent.starts.handle(messageOf(start));
    await agent.control.handle(messageOf(stop));
    expect(await world.types('a')).toEqual([ENDED]);
    expect(device.requests.filter(({ kind }) => kind === 'stop')).toEqual([]);
  });

  it('is obeyed by who takes the attempt over: told before the command is repeated', async () => {
    device.holds = false;
    const start = run.start(A);
    const stop = run.stop('a');
    await world.record(run);
    device.away = true;
    await new TestAgent(world).control.handle(messageOf(stop));
    device.away = false;
    await new TestAgent(world, { instance: 'i2' }).starts.handle(messageOf(start, 2));
    expect(device.requests.map(({ kind }) => kind)).toEqual(['stop', 'run', 'stored']);
    expect(device.executed).toEqual([]);
    expect(await world.types('a')).toEqual([['ATTEMPT_SIGNALLED'], ['ATTEMPT_RESUMED'], ENDED]);
    expect(await errorsOf('a')).toMatchObject([{ code: 'CANCELLED', outcome: 'cancelled' }]);
  });

  it('of an attempt that was never started is buried', async () => {
    const stop = run.stop('a');
    await world.record(run);
    expect(await new TestAgent(world).control.handle(messageOf(stop))).toMatchObject({ kind: 'poison' });
  });
});

describe('a task that ended without the end of its attempt', () => {
  it('closes it with an unknown outcome, and whoever carries it out lets go', async () => {
    const start = run.start(A);
    const failed = run.failWithoutEnd('a');
    await world.record(run);
    const agent = new TestAgent(world);
    const started = agent.starts.handle(messageOf(start));
    await device.until(() => device.executed.length === 1);
    expect(await agent.control.handle(messageOf(failed))).toEqual({ kind: 'done' });
    expect(await started).toEqual({ kind: 'done' });
    expect(await world.types('a')).toEqual([ENDED]);
    expect(await errorsOf('a')).toMatchObject([{ code: 'OUTCOME_UNKNOWN', outcome: 'unknown' }]);
    expect(device.requests.at(-1)).toMatchObject({ kind: 'stop' });
  });

  it('is said to the device again when it comes again: who closed it may have died before', async () => {
    run.start(A);
    const failed = run.failWithoutEnd('a');
    await world.record(run);
    const agent = new TestAgent(world);
    await agent.control.handle(messageOf(failed));
    await agent.control.handle(messageOf(failed, 2));
    expect(device.requests.map(({ kind }) => kind)).toEqual(['stop', 'stop']);
    expect(await errorsOf('a')).toHaveLength(1);
  });

  it('is let go of by another process, too', async () => {
    const start = run.start(A);
    const failed = run.failWithoutEnd('a');
    await world.record(run);
    const started = new TestAgent(world, { instance: 'i1' }).starts.handle(messageOf(start));
    await device.until(() => device.executed.length === 1);
    // The device does not hear of it, so nothing but the log can tell.
    device.intercept = ({ kind }) => (kind === 'stop' ? { state: 'silent' } : undefined);
    await new TestAgent(world, { instance: 'i2' }).control.handle(messageOf(failed));
    expect(await started).toEqual({ kind: 'done' });
    expect(await world.types('a')).toEqual([ENDED]);
  });

  it('keeps a result that was on its way beside the end', async () => {
    device.holds = false;
    const start = run.start(A);
    const failed = run.failWithoutEnd('a');
    await world.record(run);
    const other = new TestAgent(world, { instance: 'i2' });
    let closing: Promise<unknown> | undefined;
    const agent = new TestAgent(world, {
      before: async (call) => {
        if (call === 'attempts.append' && closing === undefined)
          await (closing = other.control.handle(messageOf(failed)));
      },
    });
    expect(await agent.starts.handle(messageOf(start))).toEqual({ kind: 'done' });
    expect(await world.types('a')).toEqual([ENDED, ['COMMAND_FINISHED']]);
    expect((await world.attempt('a'))[1]?.commit.events[0]).toMatchObject({ data: { state: 'COMPLETED' } });
    expect(device.forgotten).toEqual([COMMAND_A]);
  });

  it('is not looked at when its end was what ended the task', async () => {
    const start = run.start(A);
    const error = { code: 'X1', message: 'no', outcome: 'failed' as const };
    const data = {
      taskId: 'a',
      attempt: 1,
      error,
      lines: [],
      failedAt: '2026-11-20T10:00:00.000Z',
      attemptHash: 'f'.repeat(64),
    };
    const failed = run.append({ type: 'TASK_FAILED', data });
    await world.record(run);
    const calls: string[] = [];
    const agent = new TestAgent(world, { before: async (call) => void calls.push(call) });
    await agent.control.handle(messageOf(failed));
    await agent.control.handle(messageOf(start));
    expect(calls).toEqual([]);
  });

  it('is closed when it was cancelled without its end, and left alone when its end is named', async () => {
    const start = run.start(A, { id: 'b' });
    const unnamed = run.cancel('a', null);
    const named = run.cancel('b', 'f'.repeat(64));
    await world.record(run);
    const agent = new TestAgent(world);
    const started = agent.starts.handle(messageOf(start));
    await device.until(() => device.executed.length === 2);
    await agent.control.handle(messageOf(named));
    expect(await world.types('b')).toEqual([]);
    await agent.control.handle(messageOf(unnamed));
    expect(await world.types('a')).toEqual([ENDED]);
    device.finish(commandIdOf(keyOf('b')), outcomeOf('COMPLETED'));
    expect(await started).toEqual({ kind: 'done' });
    expect(await errorsOf('a')).toMatchObject([{ code: 'OUTCOME_UNKNOWN' }]);
  });

  it('in a fork beside it is left alone there: the attempt, and the device, are those of the run that it was forked from', async () => {
    const start = run.start(A);
    const parent = foldRun(run.commits);
    if (parent === undefined) throw new Error('the run has begun');
    const by = { kind: 'person', id: 'ops' } as const;
    const now = Date.parse('2026-11-20T10:00:01.000Z');
    const { events } = decide(
      emptyRun('fork1'),
      [{ kind: 'fork', id: 'verb-1', forked: forkedFrom({ run: parent, by, requestId: 'fork-1', now }) }],
      { fleet: NO_FLEET, now, planner: false },
    );
    const [first, ...rest] = events;
    if (first === undefined) throw new Error('a fork begins with a commit');
    const fork = new TestRun([A], 'fork1', [first, ...rest]);
    const cancelled = fork.cancel('a', null);
    await world.record(run);
    await world.record(fork);
    expect(events.map(({ type }) => type)).toContain('TASK_FAILED');
    const agent = new TestAgent(world);
    const started = agent.starts.handle(messageOf(start));
    await device.until(() => device.executed.length === 1);
    for (const commit of [...fork.commits, cancelled]) {
      expect(await agent.control.handle(messageOf(commit))).toEqual({ kind: 'done' });
    }
    expect(device.requests.filter(({ kind }) => kind === 'stop')).toEqual([]);
    device.finish(COMMAND_A, outcomeOf('COMPLETED'));
    expect(await started).toEqual({ kind: 'done' });
    expect(await errorsOf('a')).toEqual([]);
  });

  it('and was never started needs no end', async () => {
    const cancelled = run.append({
      type: 'TASK_CANCELLED',
      data: { taskId: 'a', attempt: 0, reason: 'run_deadline', lines: [], cancelledAt: '2026-11-20T10:00:00.000Z' },
    });
    await world.record(run);
    await new TestAgent(world).control.handle(messageOf(cancelled));
    expect(await world.types('a', 0)).toEqual([]);
  });

  it('keeps the real end when that was faster', async () => {
    device.holds = false;
    const start = run.start(A);
    const failed = run.failWithoutEnd('a');
    await world.record(run);
    let ending: Promise<unknown> | undefined;
    const agent = new TestAgent(world, {
      instance: 'i2',
      before: async (call) => {
        if (call !== 'attempts.append' || ending !== undefined) return;
        ending = new TestAgent(world).starts.handle(messageOf(start));
        await ending;
      },
    });
    await agent.control.handle(messageOf(failed));
    expect(await errorsOf('a')).toEqual([]);
    expect(await world.types('a')).toEqual([ENDED]);
  });
});
